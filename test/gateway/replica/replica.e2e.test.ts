import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ThreadWriters } from '../../../gateway/commit/thread/thread.ts';
import type { WritersOptions } from '../../../gateway/commit/thread/writers.ts';
import { TestGateway } from '../../helpers/gateway.ts';
import { cloningWriters } from '../../helpers/writers.ts';
import { StockClient } from './stock-client.ts';

interface Place {
  readonly epoch: string;
  readonly generation: number;
  readonly position: number;
}

let gateway: TestGateway;
let clients: StockClient[];
/** Folders that outlived a gateway. */
let kept: string[];
/** Copies that clients keep, by name. */
let replica: (name: string) => string;

beforeEach(async () => {
  gateway = await TestGateway.start();
  clients = [];
  kept = [];
  replica = (name) => join(gateway.folder, `${name}.db`);
});
afterEach(async () => {
  for (const client of clients) await client.stop();
  await gateway.stop();
  for (const folder of kept) rmSync(folder, { recursive: true });
});

async function place(): Promise<Place> {
  return (await gateway.call<Place & Record<string, unknown>>('GET', '/v1/replica')).body;
}

async function open(
  name: string,
  epoch?: string,
  authToken = gateway.apiKey,
): Promise<StockClient> {
  const syncUrl = `${gateway.url}/v1/replica/${epoch ?? (await place()).epoch}`;
  const client = await StockClient.open({ path: replica(name), syncUrl, authToken });
  clients.push(client);
  return client;
}

async function set(key: string, value: unknown = key): Promise<void> {
  const { status } = await gateway.call('PUT', `/v1/kv/${key}`, { body: value });
  expect(status).toBe(200);
}

function project() {
  return gateway.gateway.projects.find(gateway.projectId).then((found) => {
    if (!found) throw new Error('There is no project.');
    return found;
  });
}

async function rotate(): Promise<void> {
  await (await project()).writes.rotate();
}

/** Synchronises, and finds what the gateway has. */
async function agrees(client: StockClient): Promise<void> {
  let position: number;
  // That a key was used is written some time later, which may be just then.
  do {
    ({ position } = await place());
    await client.sync();
  } while ((await place()).position !== position);
  expect(await client.value("SELECT value FROM meta WHERE name = 'commit_seq'")).toBe(position);
  const { body } = await gateway.call<{ items: { hash: string }[] }>('GET', '/v1/ledger?limit=1');
  const head = 'SELECT hash FROM ledger ORDER BY seq DESC LIMIT 1';
  expect(await client.value(head)).toBe(body.items[0]?.hash);
  expect(await client.value('PRAGMA integrity_check')).toBe('ok');
}

describe("libSQL's own client", () => {
  it('makes its first copy, and follows every commit', async () => {
    await set('before', 'x'.repeat(100_000));
    const client = await open('one');
    await agrees(client);
    for (let n = 0; n < 20; n += 1) {
      await set(`after-${n}`);
      await agrees(client);
    }
    expect(await client.value('SELECT count(*) FROM kv')).toBe(21);
  });

  it('goes on from a copy that was streamed to its place', async () => {
    await set('before');
    const { epoch } = await place();
    await rotate();
    const info = await gateway.call<{ current_generation: number }>(
      'GET',
      `/v1/replica/${epoch}/info`,
    );
    const generation = info.body.current_generation;
    const response = await fetch(`${gateway.url}/v1/replica/${epoch}/export/${generation}`, {
      headers: { authorization: `Bearer ${gateway.apiKey}` },
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(response.headers.get('content-length')).toBe(String(bytes.length));
    writeFileSync(replica('two'), bytes);
    const numbers = Buffer.alloc(12);
    numbers.writeUInt32LE(generation, 8);
    const meta = { hash: crc32(numbers), version: 0, durable_frame_num: 0, generation };
    writeFileSync(`${replica('two')}-info`, JSON.stringify(meta));
    await set('after');
    const client = await open('two');
    await agrees(client);
    expect(await client.rows('SELECT key FROM kv ORDER BY key')).toEqual([['after'], ['before']]);
  });

  it('gets through generations, and comes back after several of them', async () => {
    const [steady, away] = [await open('steady'), await open('away')];
    await agrees(away);
    const { generation } = await place();
    for (let n = 0; n < 5; n += 1) {
      await set(`key-${n}`, 'x'.repeat(20_000 * n));
      if (n % 2 === 0) await agrees(steady);
      await rotate();
      await agrees(steady);
    }
    expect((await place()).generation).toBe(generation + 5);
    await agrees(away);
    expect(await away.value('SELECT count(*) FROM kv')).toBe(5);
  });

  it('gets transactions of many portions whole', async () => {
    const client = await open('long');
    // One group of commits, each page of them a frame.
    const puts = Array.from({ length: 40 }, (_, n) => set(`many-${n}`, 'x'.repeat(100_000)));
    await Promise.all(puts);
    await agrees(client);
    expect(await client.value('SELECT count(*) FROM kv')).toBe(40);
  });

  it('keeps its epoch when the gateway is started again', async () => {
    const client = await open('kept');
    await set('before');
    await agrees(client);
    await client.stop();
    const { epoch, position } = await place();
    const { apiKey, folder, projectId } = gateway;
    kept.push(folder);
    await gateway.stop({ keepFolder: true });
    gateway = await TestGateway.start({ folder });
    const call = async (method: string, path: string, body?: unknown) =>
      gateway.call(method, path, { key: apiKey, ...(body !== undefined && { body }) });
    const { body } = await call('GET', '/v1/replica');
    expect(body).toMatchObject({ epoch, project: { id: projectId } });
    expect(body['position']).toBeGreaterThanOrEqual(position);
    await call('PUT', '/v1/kv/after', 1);
    const again = await open('kept', epoch, apiKey);
    await again.sync();
    expect(await again.rows('SELECT key FROM kv ORDER BY key')).toEqual([['after'], ['before']]);
  });

  it('is told to begin anew when the history is another one', async () => {
    const client = await open('old');
    const { epoch } = await place();
    await set('before');
    await agrees(client);
    const { apiKey, folder, projectId } = gateway;
    kept.push(folder);
    await gateway.stop({ keepFolder: true });
    rmSync(join(folder, 'projects', projectId, 'generations'), { recursive: true });
    gateway = await TestGateway.start({ folder });
    for (const path of ['info', 'export/1', 'sync/1/1/129']) {
      const { status } = await gateway.call('GET', `/v1/replica/${epoch}/${path}`, { key: apiKey });
      expect(status).toBe(404);
    }
    const second = await gateway.call<{ epoch: string }>('GET', '/v1/replica', { key: apiKey });
    expect(second.body.epoch).not.toBe(epoch);
    const renewed = await open('renewed', second.body.epoch, apiKey);
    await renewed.sync();
    expect(await renewed.rows('SELECT key FROM kv')).toEqual([['before']]);
  });

  it('cannot write', async () => {
    const client = await open('reader');
    await agrees(client);
    await expect(client.rows("INSERT INTO kv (key) VALUES ('mine') RETURNING key")).rejects.toThrow(
      'No scope allows SQL',
    );
    await set('theirs');
    expect((await gateway.call('GET', '/v1/kv/mine')).body).toBeNull();
  });
});

describe('three clients that follow all the while', () => {
  it.each([
    ['in this thread', cloningWriters],
    ['in a thread of its own', (options: WritersOptions) => new ThreadWriters(options)],
  ])(
    'agree with the gateway through generations under load, written %s',
    async (_, openWriters) => {
      await gateway.stop();
      gateway = await TestGateway.start({ openWriters });
      const followers = [await open('a'), await open('b'), await open('c')];
      const { generation } = await place();
      const load = new AbortController();
      const { signal } = load;
      let count = 0;
      const write = async (): Promise<void> => {
        while (!signal.aborted)
          await set(`load-${(count += 1) % 50}`, 'x'.repeat(1 + (count % 7) * 3000));
      };
      const follow = async (client: StockClient): Promise<number> => {
        let syncs = 0;
        for (; !signal.aborted; syncs += 1) await client.sync();
        return syncs;
      };
      const running = [...followers.map(follow), write().then(() => 0), write().then(() => 0)];
      for (let n = 0; n < 10; n += 1) {
        const reached = count + 20;
        await expect.poll(() => count, { interval: 10 }).toBeGreaterThan(reached);
        await rotate();
      }
      load.abort();
      const syncs = (await Promise.all(running)).slice(0, 3);
      expect(Math.min(...syncs)).toBeGreaterThan(0);
      expect((await place()).generation).toBeGreaterThanOrEqual(generation + 10);
      for (const client of followers) await agrees(client);
      const digests = await Promise.all(
        followers.map(async (client) =>
          createHash('sha256')
            .update(JSON.stringify(await client.rows('SELECT * FROM kv ORDER BY key')))
            .digest('hex'),
        ),
      );
      expect(new Set(digests).size).toBe(1);
    },
  );
});

describe('a project that nobody follows', () => {
  it('keeps no generations', async () => {
    await set('one');
    await rotate();
    const folder = join(gateway.folder, 'projects', gateway.projectId);
    expect(existsSync(join(folder, 'generations'))).toBe(false);
    await place();
    expect(existsSync(join(folder, 'generations'))).toBe(true);
    expect(readFileSync(join(folder, 'generations', 'state.json'), 'utf8')).toContain('epoch');
  });
});
