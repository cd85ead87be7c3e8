import { createHmac, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../helpers/gateway.ts';
import { findProgram, freePort } from '../../helpers/programs.ts';
import { rawRequest } from '../../helpers/raw-http.ts';
import { required } from '../../helpers/require.ts';
import { newProject, type TeamProject } from '../../helpers/team.ts';
import { Hosted } from './hosted.ts';
import { deployedServer, startNginx } from './nginx.ts';

const nginx = findProgram('nginx');
const SECRET = 'a secret of the source';
/** Longer than nginx waits for an answer unless it is told. */
const LONG_WAIT_SECONDS = 63;

interface Sent {
  readonly headers?: Record<string, string>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  readonly signal?: AbortSignal;
}

async function json(answer: Promise<Response>): Promise<Record<string, unknown>> {
  return (await (await answer).json()) as Record<string, unknown>;
}

const asJson = (body: object): Sent => ({
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

describe.runIf(required('nginx', nginx !== null, 'apt-get install -y nginx-light'))(
  'behind nginx as the documentation shows it',
  () => {
    const folder = temporaryFolder();
    let project: TeamProject;
    let hosted: Awaited<ReturnType<typeof Hosted.start>>;
    let proxy: Awaited<ReturnType<typeof startNginx>>;
    let url = '';

    beforeAll(async () => {
      const data = join(folder.path, 'data');
      project = await newProject(data, 'proxied');
      url = `http://127.0.0.1:${await freePort()}`;
      hosted = await Hosted.start({
        SVC_DATA: data,
        SVC_LISTEN: '127.0.0.1:0',
        SVC_PUBLIC_URL: url,
        SVC_CONTENT_URL: url.replace('127.0.0.1', 'localhost'),
        SVC_LOG_LEVEL: 'debug',
      });
      const server = deployedServer(Number(new URL(url).port), hosted.status.listen);
      const own = { folder: join(folder.path, 'nginx'), server, url };
      proxy = await startNginx(nginx ?? '', own);
    });
    afterAll(async () => {
      await proxy.end();
      await hosted.end('SIGKILL');
      folder.remove();
    });

    const send = (method: string, path: string, { headers, body, signal }: Sent = {}) =>
      fetch(url + path, {
        method,
        headers: { authorization: `Bearer ${project.apiKey}`, ...headers },
        ...(body !== undefined && { body }),
        ...(signal && { signal }),
      });

    it.each(['a/b', 'a/b/c.txt', 'a%2Fb', 'ä ö/?&#+', '.hidden/..x', "it's/100%"])(
      'keeps the key and the path %s as they are',
      async (name) => {
        const written = encodeURIComponent(name);
        const put = await json(send('PUT', `/v1/kv/${written}`, asJson({ of: name })));
        expect(put).toMatchObject({ key: name });
        expect(await json(send('GET', `/v1/kv/${written}`))).toMatchObject({
          key: name,
          value: { of: name },
        });
        const bytes = randomBytes(64);
        const file = send('PUT', `/v1/files/${written}`, {
          headers: { 'content-type': 'application/pdf' },
          body: new Uint8Array(bytes),
        });
        expect(await json(file)).toMatchObject({ path: name, content_type: 'application/pdf' });
        expect(await json(send('GET', `/v1/files/${written}`))).toMatchObject({
          path: name,
          content_base64: bytes.toString('base64'),
        });
      },
    );

    it.each(['PUT', 'GET'])('folds no segment of dots, which is refused: %s', async (method) => {
      for (const path of ['/v1/kv/.', '/v1/kv/..', '/v1/kv/%2e', '/v1/kv/a/../b']) {
        const { status, text } = await rawRequest(url, [
          `${method} ${path} HTTP/1.1`,
          `Authorization: Bearer ${project.apiKey}`,
          'Content-Length: 0',
        ]);
        expect([path, status, text.includes('"path":"key"')]).toEqual([path, 400, true]);
      }
    });

    it('keeps slashes that stand in an address as such, also two together', async () => {
      const put = await json(send('PUT', '/v1/kv/plain//slashes/', asJson({})));
      expect(put).toMatchObject({ key: 'plain//slashes/' });
    });

    it('brings webhook bodies byte by byte, so that their signatures hold, up to 5 MB', async () => {
      const source = await json(
        send(
          'POST',
          '/v1/sources',
          asJson({ type: 'webhook', name: 'gh', verification: 'hmac_sha256', secret: SECRET }),
        ),
      );
      const hook = String(source['url']);
      expect(hook.startsWith(`${url}/w/`)).toBe(true);
      const deliver = async (body: Uint8Array<ArrayBuffer>) => {
        const signature = createHmac('sha256', SECRET).update(body).digest('hex');
        return fetch(hook, { method: 'POST', body, headers: { 'x-signature': signature } });
      };
      const odd = new TextEncoder().encode('{"a" :\r\n\t"ä\\u0000", "b":1.0}\n\n');
      expect((await deliver(odd)).status).toBe(200);
      const limit = 5 * 1024 * 1024;
      expect((await deliver(new Uint8Array(randomBytes(limit)))).status).toBe(200);
      const over = await deliver(new Uint8Array(limit + 1));
      expect(over.status).toBe(413);
      // Of the gateway, not a page of nginx.
      expect(await over.json()).toMatchObject({ error: { code: 'PAYLOAD_TOO_LARGE' } });
    });

    it('takes uploads of many megabytes and serves them by link, in ranges too', async () => {
      const bytes = new Uint8Array(randomBytes(12 * 1024 * 1024));
      const type = 'application/vnd.service.upload+json';
      const opened = await json(
        send('PUT', '/v1/files/large.bin', {
          headers: { 'content-type': type },
          body: JSON.stringify({
            upload: { size: bytes.length, content_type: 'application/octet-stream' },
          }),
        }),
      );
      const headers = opened['upload_headers'] as Record<string, string>;
      const put = await fetch(String(opened['upload_url']), {
        method: 'PUT',
        headers,
        body: bytes,
      });
      expect(put.status).toBe(200);
      await json(
        send('PUT', '/v1/files/large.bin', {
          headers: { 'content-type': type },
          body: JSON.stringify({ complete: opened['upload_id'] }),
        }),
      );
      const link = String((await json(send('GET', '/v1/files/large.bin')))['download_url']);
      expect(new URL(link).hostname).toBe('localhost');
      const whole = new Uint8Array(await (await fetch(link)).arrayBuffer());
      expect(Buffer.compare(whole, bytes)).toBe(0);
      const part = await fetch(link, { headers: { range: 'bytes=100-199' } });
      expect(part.status).toBe(206);
      expect(Buffer.from(await part.arrayBuffer())).toEqual(Buffer.from(bytes.slice(100, 200)));
    });

    it('tells the host of what strangers wrote from the other one, without its port', async () => {
      const content = url.replace('127.0.0.1', 'localhost');
      const path = '/m/0123456789abcdef/evt_x/1/x';
      const before = await fetch(url + path, { redirect: 'manual' });
      expect([before.status, before.headers.get('location')]).toEqual([308, content + path]);
      expect((await fetch(content + path)).status).toBe(404);
      expect((await fetch(`${content}/ui/sign-in`)).status).toBe(404);
      expect((await fetch(`${url}/ui/sign-in`)).status).toBe(200);
    });

    it('passes each event of a stream on as it comes', async () => {
      const gone = new AbortController();
      const stream = await send('GET', '/v1/replica/changes', { signal: gone.signal });
      expect(stream.headers.get('content-type')).toContain('text/event-stream');
      let seen = '';
      const reading = (async () => {
        for await (const bytes of stream.body ?? []) seen += Buffer.from(bytes).toString();
      })().catch(() => undefined);
      await expect.poll(() => seen).toContain('event: place');
      const changes = (): number => seen.split('event: change').length - 1;
      for (const n of [1, 2, 3]) {
        await json(send('PUT', '/v1/kv/streamed', asJson({ n })));
        await expect.poll(changes).toBeGreaterThanOrEqual(n);
      }
      gone.abort();
      await reading;
    });

    it(`holds a wait of ${LONG_WAIT_SECONDS} s and answers it`, async () => {
      const path = `/v1/inbox/wait?source=late&timeout_seconds=${LONG_WAIT_SECONDS}`;
      const answer = await send('GET', path);
      expect(answer.status).toBe(200);
      expect(await answer.json()).toMatchObject({ event: null });
    });

    it('is told who calls, and shows no metrics to them', async () => {
      expect((await fetch(`${url}/metrics`)).status).toBe(404);
      expect((await fetch(`${hosted.status.listen}/metrics`)).status).toBe(200);
      expect((await fetch(`${url}/readyz`)).status).toBe(200);
      const headers = { 'x-forwarded-for': '198.51.100.7', authorization: 'Bearer nonsense' };
      await fetch(`${url}/v1/whoami`, { headers });
      // nginx was called by this machine, which is trusted as a proxy is: so what it says of its client holds.
      await expect
        .poll(() => hosted.log.find(({ path }) => path === '/v1/whoami'))
        .toMatchObject({ status: 401, client: '198.51.100.7' });
    });
  },
);
