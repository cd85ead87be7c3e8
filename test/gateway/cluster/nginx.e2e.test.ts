import { randomBytes } from 'node:crypto';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newToken } from '../../../shared/lib/ids.ts';
import { temporaryFolder } from '../../helpers/gateway.ts';
import { Gateways } from '../../helpers/gateways.ts';
import { tokensOf } from '../../helpers/outbox.ts';
import { visit } from '../../helpers/page-visitor.ts';
import { findProgram } from '../../helpers/programs.ts';
import { required } from '../../helpers/require.ts';
import type { TeamProject } from '../../helpers/team.ts';
import { post } from '../auth/sign-in/person.ts';

const nginx = findProgram('nginx');
/** So many that they are not all of one gateway by chance. */
const PROJECTS = 32;
const LOOKED_AT = 4;
const WAIT_SECONDS = 20;
const UPLOAD_BYTES = 20 * 1024 * 1024;

interface Sent {
  readonly project?: TeamProject;
  readonly headers?: Record<string, string>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
}

type Json = Record<string, unknown>;

async function json(answer: Promise<Response>): Promise<Json> {
  return (await (await answer).json()) as Json;
}

const asJson = (body: object): Sent => ({
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

describe.runIf(required('nginx', nginx !== null, 'apt-get install -y nginx-light'))(
  'two gateways behind nginx as gateway/deploy/nginx.conf has it',
  () => {
    const folder = temporaryFolder();
    let gateways: Gateways;
    let projects: TeamProject[];
    let project: TeamProject;

    beforeAll(async () => {
      const wanted = { folder: folder.path, nginx: nginx ?? '', publicRoad: 'hashed' } as const;
      gateways = await Gateways.start(wanted);
      const slugs = Array.from({ length: PROJECTS }, (_, n) => `team-${n}`);
      projects = await gateways.newProjects(...slugs);
      [project] = projects as [TeamProject];
    });
    afterAll(async () => {
      await gateways.stop();
      folder.remove();
    });

    const send = (method: string, path: string, sent: Sent = {}) => {
      const { headers, body, project: { apiKey } = project } = sent;
      return fetch(gateways.urls.hashed + path, {
        method,
        headers: { authorization: `Bearer ${apiKey}`, ...headers },
        ...(body !== undefined && { body }),
      });
    };

    it('sends each project to one of them, by its keys and by every address that names it', async () => {
      const homes = new Set<number>();
      for (const [n, one] of projects.entries()) {
        await send('GET', `/v1/whoami?home-of=${n}.`, { project: one });
        const home = () => gateways.reachedBy(`/v1/whoami?home-of=${n}.`);
        // nginx writes its line after the answer.
        await expect.poll(home).toHaveLength(1);
        homes.add(home()[0] ?? -1);
      }
      expect(homes).toEqual(new Set([0, 1]));
      for (const [n, one] of projects.slice(0, LOOKED_AT).entries()) {
        const { url: hook } = await json(
          send('POST', '/v1/sources', {
            ...asJson({ type: 'webhook', name: `of-${n}` }),
            project: one,
          }),
        );
        const get = (path: string) => send('GET', `${path}?of=${n}.`, { project: one });
        await Promise.all(['/v1/whoami', '/v1/inbox', '/v1/kv', '/v1/sources'].map(get));
        const lowerScheme = { authorization: `bearer ${one.apiKey}` };
        await send('GET', `/v1/whoami?of=${n}.`, { headers: lowerScheme });
        // Whoever sends a webhook may bring a key that is not ours, or another project's.
        const stranger = projects[(n + 1) % PROJECTS] ?? one;
        const sent = { method: 'POST', body: '{}' };
        const took = await fetch(`${String(hook)}?of=${n}.`, sent);
        expect([took.status, String(hook)]).toEqual([200, expect.stringContaining('/w/')]);
        const { pathname } = new URL(String(hook));
        await send('POST', `${pathname}?of=${n}.`, { body: '{}', project: stranger });
        const token = newToken(one.id);
        const body = token.slice(0, 16);
        for (const kind of ['a', 'c', 'f', 'u'])
          await fetch(`${gateways.urls.hashed}/${kind}/${token}?of=${n}.`);
        for (const rest of ['evt_1/1/x', 'cGF0aA/1/1/x'])
          for (const kind of ['d', 'l', 'm'])
            await fetch(`${gateways.urls.hashed}/${kind}/${body}/${rest}?of=${n}.`);
        const reached = () => gateways.passed.filter(({ path }) => path.endsWith(`?of=${n}.`));
        await expect.poll(reached).toHaveLength(17);
        const by = new Set(reached().flatMap((passed) => passed.by));
        expect([...by]).toEqual(gateways.reachedBy(`/v1/whoami?home-of=${n}.`));
      }
    });

    it.each(['a/b', 'a%2Fb', 'ä ö/?&#+', '.hidden/..x', "it's/100%", 'two//slashes/'])(
      'keeps the key %s as it is',
      async (name) => {
        const written = encodeURIComponent(name);
        const put = await json(send('PUT', `/v1/kv/${written}`, asJson({ of: name })));
        expect(put).toMatchObject({ key: name });
        const there = await json(send('GET', `/v1/kv/${written}`));
        expect(there).toMatchObject({ key: name, value: { of: name } });
        expect((await send('DELETE', `/v1/kv/${written}`)).status).toBe(200);
      },
    );

    it(`holds a wait of ${WAIT_SECONDS} s, and ends one when its event comes in through the other`, async () => {
      const path = `/v1/inbox/wait?source=late&timeout_seconds=${WAIT_SECONDS}`;
      const late = send('GET', path);
      const awaited = json(send('GET', `/v1/inbox/wait?source=soon&timeout_seconds=120`));
      const { url } = await json(
        send('POST', '/v1/sources', asJson({ type: 'webhook', name: 'soon' })),
      );
      const { pathname } = new URL(String(url));
      for (const listen of gateways.listens) {
        const took = await fetch(`http://${listen}${pathname}`, { method: 'POST', body: listen });
        expect(took.status).toBe(200);
      }
      expect(await awaited).toMatchObject({ event: { source: 'soon' } });
      const answer = await late;
      expect([answer.status, await answer.json()]).toMatchObject([200, { event: null }]);
    });

    it('takes 20 MB, and serves them whole and in part, whichever gateway is asked', async () => {
      const bytes = new Uint8Array(randomBytes(UPLOAD_BYTES));
      const type = { 'content-type': 'application/vnd.service.upload+json' };
      const content_type = 'application/octet-stream';
      const upload = { size: bytes.length, content_type };
      const put = (body: object) =>
        json(send('PUT', '/v1/files/large.bin', { headers: type, body: JSON.stringify(body) }));
      const opened = await put({ upload });
      const headers = opened['upload_headers'] as Record<string, string>;
      const url = String(opened['upload_url']);
      const sent = await fetch(url, { method: 'PUT', headers, body: bytes });
      expect(sent.status).toBe(200);
      await put({ complete: opened['upload_id'] });
      const link = new URL(
        String((await json(send('GET', '/v1/files/large.bin')))['download_url']),
      );
      const bases = [gateways.urls.hashed, ...gateways.listens.map((one) => `http://${one}`)];
      for (const base of bases) {
        const here = base + link.pathname;
        const whole = new Uint8Array(await (await fetch(here)).arrayBuffer());
        expect(Buffer.compare(whole, bytes)).toBe(0);
        const part = await fetch(here, { headers: { range: 'bytes=100-199' } });
        expect(part.status).toBe(206);
        expect(Buffer.from(await part.arrayBuffer())).toEqual(Buffer.from(bytes.slice(100, 200)));
      }
    });

    it('serves MCP', async () => {
      const headers = { authorization: `Bearer ${project.apiKey}` };
      const transport = new StreamableHTTPClientTransport(new URL(`${gateways.urls.hashed}/mcp`), {
        requestInit: { headers },
      });
      const client = new Client({ name: 'nginx-test', version: '1.0.0' });
      await client.connect(transport);
      expect((await client.listTools()).tools.length).toBeGreaterThan(30);
      const answer = await client.callTool({ name: 'whoami', arguments: {} });
      expect(answer.structuredContent).toMatchObject({ project: { id: project.id } });
      await client.close();
    });

    it('signs people in, whichever gateway each step meets', async () => {
      const even = { url: gateways.urls.even };
      const { body: begun } = await post(even, '/v1/auth/start', { email: 'ana@example.com' });
      const tokens = (): string[] => [0, 1].flatMap((n) => tokensOf(gateways.dataOf(n), 's'));
      await expect.poll(tokens).toHaveLength(1);
      const typed = { code: String(begun['user_code']) };
      const link = `${gateways.urls.hashed}/s/${tokens()[0] ?? ''}`;
      await visit(link, { button: 'Confirm', typed });
      const login = { login_id: begun['login_id'] };
      expect(await post(even, '/v1/auth/poll', login)).toMatchObject({ status: 200 });
      const founded = await post(even, '/v1/projects', { ...login, name: 'Acme Shop' });
      expect(founded).toMatchObject({ status: 201 });
      const apiKey = String(founded.body['api_key']);
      for (const listen of gateways.listens) {
        const headers = { authorization: `Bearer ${apiKey}` };
        const known = await fetch(`http://${listen}/v1/whoami`, { headers });
        expect(known.status).toBe(200);
      }
    });

    it('tells gateways who calls, and shows their figures to nobody', async () => {
      expect((await fetch(`${gateways.urls.hashed}/metrics`)).status).toBe(404);
      expect((await fetch(`${gateways.urls.hashed}/readyz`)).status).toBe(200);
      expect((await fetch(`http://${gateways.listens[0]}/metrics`)).status).toBe(200);
    });

    it('goes to the other one while one is dead, with every kind of call', async () => {
      await send('GET', '/v1/whoami?home');
      const [home = 0] = gateways.reachedBy('/v1/whoami?home');
      await gateways.kill(home);
      const value = asJson({ moved: true });
      for (const [method, sent] of [['PUT', value], ['GET'], ['DELETE'], ['PUT', value]] as const) {
        const answer = await send(method, '/v1/kv/moved', sent);
        expect([method, answer.status]).toEqual([method, 200]);
      }
      expect(gateways.reachedBy('/v1/kv/moved')).toEqual([1 - home]);
      await gateways.startOne(home);
      const isBack = async (): Promise<number[]> => {
        await send('GET', '/v1/whoami?back');
        return gateways.reachedBy('/v1/whoami?back');
      };
      await expect.poll(isBack, { interval: 200 }).toContain(home);
    });
  },
);
