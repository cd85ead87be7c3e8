import { get } from 'node:http';
import { once } from 'node:events';
import { mkdirSync, readFileSync, readdirSync, readlinkSync, rmdirSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newApiKey } from '../../../shared/lib/ids.ts';
import { TestGateway } from '../../helpers/gateway.ts';
import { Contract } from '../../surface/contract.ts';
import { wholeDocument } from '../../surface/doors/document.ts';

const FRAME = 24 + 4096;
const SCOPES = ['inbox:read', 'approvals', 'disk', 'ledger:read'];
const JSON_TYPE = 'application/json';

const contract = new Contract(wholeDocument());
let gateway: TestGateway;
let epoch: string;
let generation: number;

beforeAll(async () => {
  gateway = await TestGateway.start({ ratePerMinute: 600 });
  const { body } = await gateway.call('GET', '/v1/replica');
  epoch = String(body['epoch']);
  await gateway.call('PUT', '/v1/kv/one', { body: 'x'.repeat(50_000) });
  await rotate();
  await gateway.call('PUT', '/v1/kv/two', { body: 'x'.repeat(50_000) });
  generation = Number((await gateway.call('GET', '/v1/replica')).body['generation']);
});
afterAll(() => gateway.stop());

async function project() {
  const found = await gateway.gateway.projects.find(gateway.projectId);
  if (!found) throw new Error('There is no project.');
  return found;
}

async function rotate(): Promise<void> {
  await (await project()).writes.rotate();
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
  readonly body: Record<string, unknown>;
}

/** By a path under `/v1/replica`. */
async function ask(
  path: string,
  options: { method?: string; key?: string | null } = {},
): Promise<Answer> {
  const { method = 'GET', key = gateway.apiKey } = options;
  const response = await fetch(`${gateway.url}/v1/replica${path}`, {
    method,
    headers: key === null ? {} : { authorization: `Bearer ${key}` },
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  const isJson = response.headers.get('content-type') === JSON_TYPE;
  const body = isJson ? (JSON.parse(bytes.toString()) as Record<string, unknown>) : {};
  return { status: response.status, headers: response.headers, bytes, body };
}

/** All of them, as a client that knows its way asks. */
function everyRoute(): [name: string, path: string, method: string][] {
  return [
    ['replica_place', '', 'GET'],
    ['replica_changes', '/changes', 'GET'],
    ['replica_info', `/${epoch}/info`, 'GET'],
    ['replica_export', `/${epoch}/export/${generation}`, 'GET'],
    ['replica_sync', `/${epoch}/sync/${generation}/1/129`, 'GET'],
    ['', `/${epoch}/v2/pipeline`, 'POST'],
    ['', `/${epoch}/v3/pipeline`, 'POST'],
  ];
}

/** What this process has open. */
function pool(): string[] {
  return readdirSync('/proc/self/fd').flatMap((file) => {
    try {
      return [readlinkSync(`/proc/self/fd/${file}`)];
    } catch {
      return [];
    }
  });
}

/** Calls that a key has left. */
function left(header: string | null): number {
  return Number(/r=(\d+)/.exec(header ?? '')?.[1]);
}

/** An answer that is as the document says. */
function expectPromised(name: string, { status, headers, bytes, body }: Answer): void {
  const [type = ''] = (headers.get('content-type') ?? '').split(';');
  const content = type === JSON_TYPE ? body : bytes;
  expect(contract.faults(name, status, content, type)).toEqual([]);
  expect(contract.missingHeaders(name, status, headers)).toEqual([]);
}

it('regression: an Idempotency-Key that is none is refused to nobody who reads here', async () => {
  const headers = { authorization: `Bearer ${gateway.apiKey}`, 'idempotency-key': 'x'.repeat(256) };
  for (const path of ['', `/${epoch}/info`, `/${epoch}/sync/${generation}/1/2`]) {
    const { status } = await fetch(`${gateway.url}/v1/replica${path}`, { headers });
    expect([path, status]).toEqual([path, 200]);
  }
});

describe('the place of a project', () => {
  it('names everything that a copy does not tell', async () => {
    const answer = await ask('');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expectPromised('replica_place', answer);
    const { position } = await project();
    const { body: whoami } = await gateway.call('GET', '/v1/whoami');
    const migrations = readdirSync('shared/store/migrations/project').length;
    expect(answer.body).toEqual({
      epoch: expect.stringMatching(/^[0-9A-Za-z]{20,}$/) as unknown,
      generation,
      position,
      schema_version: migrations,
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as unknown,
      project: whoami['project'],
      server: {
        version: (whoami['server'] as { version: string }).version,
        urls: whoami['urls'],
        channels: (whoami['server'] as { channels: string[] }).channels,
        telegram_bot: null,
        keeps_mail: true,
      },
    });
  });

  it('is as far as the last write says', async () => {
    const { headers } = await gateway.call('PUT', '/v1/kv/far', { body: 1 });
    expect(Number(headers.get('x-service-position'))).toBe((await ask('')).body['position']);
  });
});

describe('the protocol', () => {
  it('names the generation', async () => {
    const answer = await ask(`/${epoch}/info`);
    expectPromised('replica_info', answer);
    expect([answer.status, answer.body]).toEqual([200, { current_generation: generation }]);
  });

  it('gives the file as the generation began', async () => {
    const answer = await ask(`/${epoch}/export/${generation}`);
    expectPromised('replica_export', answer);
    const { databasePath } = await project();
    expect(answer.bytes.equals(readFileSync(databasePath))).toBe(true);
    expect(answer.headers.get('content-length')).toBe(String(answer.bytes.length));
  });

  it('gives frames as they are in the log, of this generation and of the one before', async () => {
    const { databasePath, replication } = await project();
    const log = `${databasePath}-wal`;
    const archive = join(databasePath, '..', 'generations', `${generation - 1}.wal`);
    for (const [path, number] of [
      [log, generation],
      [archive, generation - 1],
    ] as const) {
      const answer = await ask(`/${epoch}/sync/${number}/2/9`);
      expect(answer.status).toBe(200);
      expectPromised('replica_sync', answer);
      const expected = readFileSync(path).subarray(32 + FRAME, 32 + 8 * FRAME);
      expect(answer.bytes.equals(expected)).toBe(true);
      expect(answer.headers.get('cache-control')).toBe('no-store');
    }
    const rest = await ask(`/${epoch}/sync/${generation}/2/4294967295`);
    expect(rest.bytes).toHaveLength(((replication.log?.frames ?? 0) - 1) * FRAME);
  });

  it('says 400 at the end of a generation, and nowhere before', async () => {
    const frames = (await project()).replication.log?.frames ?? 0;
    expect(frames).toBeGreaterThan(10);
    for (let from = 1; from <= frames; from += 1) {
      expect((await ask(`/${epoch}/sync/${generation}/${from}/${from + 1}`)).status).toBe(200);
    }
    const end = await ask(`/${epoch}/sync/${generation}/${frames + 1}/${frames + 129}`);
    expectPromised('replica_sync', end);
    expect([end.status, end.body]).toEqual([400, { generation }]);
    const archived = join(
      (await project()).databasePath,
      '..',
      'generations',
      `${generation - 1}.wal`,
    );
    const count = (readFileSync(archived).length - 32) / FRAME;
    expect((await ask(`/${epoch}/sync/${generation - 1}/${count}/9999`)).bytes).toHaveLength(FRAME);
    const before = await ask(`/${epoch}/sync/${generation - 1}/${count + 1}/9999`);
    expect([before.status, before.body]).toEqual([400, { generation }]);
  });

  it.each(['v2', 'v3'])('refuses SQL by %s', async (version) => {
    const { status, body } = await ask(`/${epoch}/${version}/pipeline`, { method: 'POST' });
    expect(status).toBe(403);
    expect(body['error']).toMatchObject({
      code: 'SCOPE_MISSING',
      hint: 'No scope allows SQL: replicas are read only. Writes are operations, see /v1/openapi.json.',
    });
  });

  it('refuses frames of others', async () => {
    const pushed = await ask(`/${epoch}/sync/${generation}/1/2`, { method: 'POST' });
    expect([pushed.status, pushed.headers.get('allow')]).toEqual([405, 'GET']);
    expectPromised('replica_sync', pushed);
  });

  it('breaks off an export that nobody takes, and closes its file', async () => {
    for (let n = 0; n < 20; n += 1) {
      const request = get(`${gateway.url}/v1/replica/${epoch}/export/${generation}`, {
        agent: false,
        headers: { authorization: `Bearer ${gateway.apiKey}` },
      });
      const [response] = await once(request, 'response');
      request.on('error', () => undefined);
      (response as NodeJS.ReadableStream & { destroy(): void }).destroy();
    }
    const openCopies = (): string[] => pool().filter((path) => path.endsWith(`/${generation}.db`));
    await expect.poll(openCopies).toEqual([]);
    expect((await ask(`/${epoch}/export/${generation}`)).status).toBe(200);
  });

  it('frees what it holds for clients who leave', async () => {
    const url = new URL(gateway.url);
    for (let n = 0; n < 200; n += 1) {
      const socket = connect(Number(url.port), url.hostname);
      const line = `GET /v1/replica/${epoch}/sync/${generation}/1/257 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${gateway.apiKey}\r\n\r\n`;
      // The second waits on its connection for the first.
      socket.end(line + line);
      socket.on('error', () => undefined);
      if (n % 2 === 0) await once(socket, 'connect');
      socket.destroy();
    }
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => ask(`/${epoch}/sync/${generation}/1/257`)),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
  });
});

describe('copies whose clients leave', () => {
  it('make room for the next', async () => {
    for (let n = 0; n < 70; n += 1) {
      const gone = new AbortController();
      const response = await fetch(`${gateway.url}/v1/replica/${epoch}/export/${generation}`, {
        headers: { authorization: `Bearer ${gateway.apiKey}` },
        signal: gone.signal,
      });
      expect(response.status).toBe(200);
      gone.abort();
    }
  });
});

describe('trouble', () => {
  it('is UNAVAILABLE, which the client tells from the end of a generation', async () => {
    const folder = join((await project()).databasePath, '..', 'generations');
    // Neither of them can be read.
    await rotate();
    await rotate();
    const newest = Number((await ask('')).body['generation']);
    for (const name of [`${newest - 1}.wal`, `${newest - 1}.db`]) {
      rmSync(join(folder, name), { force: true });
    }
    mkdirSync(join(folder, `${newest - 1}.wal`));
    const answer = await ask(`/${epoch}/sync/${newest - 1}/1/2`);
    expectPromised('replica_sync', answer);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
    expect(answer.body).toMatchObject({ error: { code: 'UNAVAILABLE' } });
    expect(answer.body).not.toHaveProperty('generation');
    rmdirSync(join(folder, `${newest - 1}.wal`));
    expect((await ask(`/${epoch}/sync/${newest - 1}/1/2`)).status).toBe(404);
    generation = newest;
  });
});

describe('what leads nowhere', () => {
  const HUGE = ['4294967296', '99999999999999999999', '1e3', '0x1', '+1', '%31%20', '%00', '..%2f'];
  const NONE = ['0', '-1', '1.5', 'one', ...HUGE];

  it.each(NONE)('is a generation, a frame or an end called %s', async (text) => {
    const paths = [
      `/${epoch}/export/${text}`,
      `/${epoch}/sync/${text}/1/2`,
      `/${epoch}/sync/${generation}/${text}/2`,
      `/${epoch}/sync/${generation}/1/${text}`,
    ];
    for (const path of paths) {
      const { status, body } = await ask(path);
      expect([path, status, body['error']]).toMatchObject([path, 404, { code: 'NOT_FOUND' }]);
      expect(body).not.toHaveProperty('generation');
    }
  });

  it.each([
    ['an end before the beginning', () => `/${epoch}/sync/${generation}/2/1`],
    ['an end at the beginning', () => `/${epoch}/sync/${generation}/2/2`],
    ['a generation to come', () => `/${epoch}/sync/${generation + 1}/1/2`],
    ['an export to come', () => `/${epoch}/export/${generation + 1}`],
    ['an export that nobody made', () => `/${epoch}/export/${generation - 1}`],
    ['a frame far beyond the end', () => `/${epoch}/sync/${generation}/100000/100001`],
    [
      'a frame far beyond the end of one before',
      () => `/${epoch}/sync/${generation - 1}/100000/100001`,
    ],
    ['the info of another history', () => '/0123456789abcdefABCDEF/info'],
    ['the export of another history', () => `/0123456789abcdefABCDEF/export/${generation}`],
    ['frames of another history', () => `/0123456789abcdefABCDEF/sync/${generation}/1/2`],
    ['a folder above', () => `/%2e%2e%2f%2e%2e/export/${generation}`],
    ['half a path', () => `/${epoch}/sync/${generation}/1`],
    ['a longer path', () => `/${epoch}/sync/${generation}/1/2/3`],
    ['nothing that there is', () => `/${epoch}/other`],
  ])('%s', async (_name, path) => {
    const { status, body } = await ask(path());
    expect([status, body['error']]).toMatchObject([404, { code: 'NOT_FOUND' }]);
  });
});

describe('who may ask', () => {
  it('nobody without a key that is one', async () => {
    for (const [name, path, method] of everyRoute()) {
      for (const key of [null, 'svc_live_nonsense', newApiKey(gateway.projectId)]) {
        const answer = await ask(path, { method, key });
        expect([path, answer.status]).toEqual([path, 401]);
        expect(answer.body['error']).toMatchObject({ code: 'UNAUTHENTICATED' });
        if (name !== '') expectPromised(name, answer);
      }
    }
  });

  it('nobody whose key was revoked, from then on', async () => {
    const key = await gateway.key(...SCOPES);
    expect((await ask('', { key })).status).toBe(200);
    const { body } = await gateway.call('GET', '/v1/whoami', { key });
    const { id } = body['key'] as { id: string };
    await gateway.call('DELETE', `/v1/keys/${id}`);
    for (const [name, path, method] of everyRoute()) {
      const answer = await ask(path, { method, key });
      expect([path, answer.status, answer.body['error']]).toMatchObject([
        path,
        401,
        { code: 'KEY_REVOKED' },
      ]);
      if (name !== '') expectPromised(name, answer);
    }
  });

  it.each(SCOPES)('nobody without %s', async (missing) => {
    const others = [...SCOPES, 'inbox:write', 'send'].filter((scope) => scope !== missing);
    const key = await gateway.key(...others);
    for (const [name, path, method] of everyRoute()) {
      const answer = await ask(path, { method, key });
      expect([path, answer.status]).toEqual([path, 403]);
      expect(answer.body['error']).toMatchObject({
        code: 'SCOPE_MISSING',
        details: { scope: missing },
        hint: 'A replica is the whole project. Its key needs inbox:read, approvals, disk, ledger:read; disk:read will do for disk.',
      });
      if (name !== '') expectPromised(name, answer);
    }
  });

  it('a key with these scopes and no other', async () => {
    const key = await gateway.key(...SCOPES);
    for (const path of ['', `/${epoch}/info`, `/${epoch}/export/${generation}`]) {
      expect((await ask(path, { key })).status).toBe(200);
    }
  });

  it("a key sees its own project's, and nothing of another", async () => {
    const second = await gateway.gateway.createProject({ name: 'Second', slug: 'second' });
    const key = second.apiKey;
    for (const path of ['info', `export/${generation}`, `sync/${generation}/1/129`]) {
      expect((await ask(`/${epoch}/${path}`, { key })).status).toBe(404);
    }
    const { body } = await ask('', { key });
    expect(body['project']).toMatchObject({ slug: 'second' });
    expect(body['epoch']).not.toBe(epoch);
  });

  it('is not metered', async () => {
    const before = (await gateway.call('GET', '/v1/whoami')).headers.get('ratelimit');
    for (let n = 0; n < 20; n += 1) {
      const { status, headers } = await ask(`/${epoch}/info`);
      expect([status, headers.get('ratelimit')]).toEqual([200, null]);
    }
    const after = (await gateway.call('GET', '/v1/whoami')).headers.get('ratelimit');
    expect(left(before) - left(after)).toBeLessThan(5);
  });
});
