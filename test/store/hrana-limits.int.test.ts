import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import {
  connect,
  create,
  folderOfTest,
  MAKE,
  names,
  pipeline,
  put,
  startServer,
} from './hrana-world.ts';
import type { HranaServer } from '../helpers/hrana/server.ts';

const execute = (sql: string) => ({ type: 'execute', stmt: { sql } });
const BEGIN = execute('BEGIN IMMEDIATE');
const READ = execute('SELECT count(*) FROM sqlite_schema');
const CLOSE = { type: 'close' };

/** The status of a read that leaves no stream open. */
async function read(server: HranaServer, name: string): Promise<number> {
  return (await pipeline(server.urlOf(name), [READ, CLOSE])).status;
}

describe('a database', () => {
  it.each([
    [{}, 1n],
    [{ durability_mode: null }, 1n],
    [{ durability_mode: 'off' }, 0n],
    [{ durability_mode: 'relaxed' }, 1n],
    [{ durability_mode: 'strong' }, 2n],
    [{ durability_mode: 'extra' }, 3n],
  ])('created with %j has synchronous = %i, after a restart too', async (config, synchronous) => {
    const options = { create: 'api', folder: folderOfTest() } as const;
    const first = await startServer(options);
    expect((await create(first, 'test', config)).status).toBe(200);
    for (const server of [first, await startServer(options)]) {
      const { rows } = await connect(server).execute('PRAGMA synchronous');
      expect(rows[0]?.['synchronous']).toBe(synchronous);
    }
  });

  it('is not created from something else', async () => {
    const server = await startServer({ create: 'api' });
    expect((await create(server, 'test', { durability_mode: 'nope' })).status).toBe(422);
    const url = `${server.url}/v1/namespaces/test/create`;
    expect((await fetch(url, { method: 'POST' })).status).toBe(415);
    expect(await read(server, 'test')).toBe(404);
  });

  it('has its own limit for transactions that others wait for', async () => {
    const server = await startServer({ create: 'api', transactionMaxMs: 60_000 });
    await create(server, 'test', { txn_timeout_s: 0 });
    const client = connect(server);
    await client.execute(MAKE);
    const slow = await client.transaction('write');
    await slow.execute(put('slow'));
    await client.execute(put('waited'));
    await expect(slow.execute(put('late'))).rejects.toMatchObject({ code: 'TRANSACTION_TIMEOUT' });
  });
});

describe('a writer', () => {
  it('waits for as long as the transaction before it may last', async () => {
    const client = connect(await startServer({ transactionMaxMs: 120_000 }));
    await client.execute(MAKE);
    const first = await client.transaction('write');
    await first.execute(put('a'));
    const [second, third] = ['b', 'c'].map((name) => client.execute(put(name)));
    await sleep(100);
    await first.commit();
    await Promise.all([second, third]);
    expect(await names(client)).toEqual(['a', 'b', 'c']);
  });

  it('keeps its turn for a moment when SQLite has refused it', async () => {
    const client = connect(await startServer());
    await client.execute(MAKE);
    const stale = await client.transaction('deferred');
    await stale.execute('SELECT * FROM item');
    await client.execute(put('between'));
    await expect(stale.execute(put('stale'))).rejects.toMatchObject({ code: 'SQLITE_BUSY' });
    await client.execute(put('after'));
    await expect(stale.execute(put('stale'))).rejects.toMatchObject({ code: 'SQLITE_BUSY' });
    stale.close();
    expect(await names(client)).toEqual(['after', 'between']);
  });

  it('with a snapshot gets SQLITE_BUSY when the log is restarted, one without goes on', async () => {
    const server = await startServer({ transactionMaxMs: 60_000 });
    const client = connect(server);
    await client.execute(MAKE);
    const first = await client.transaction('write');
    await first.execute(put('undone'));
    const checkpoint = fetch(`${server.url}/v1/namespaces/test/checkpoint`, { method: 'POST' });
    await sleep(50);
    const stale = await client.transaction('deferred');
    await stale.execute('SELECT * FROM item');
    const refused = stale.execute(put('stale')).catch((error: unknown) => error);
    const fresh = client.execute(put('fresh'));
    await sleep(50);
    await first.rollback();
    expect(await refused).toMatchObject({
      code: 'SQLITE_BUSY',
      message: expect.stringContaining('database is locked'),
    });
    await fresh;
    expect((await checkpoint).status).toBe(200);
    expect(await names(client)).toEqual(['fresh']);
  });
});

describe('connections', () => {
  it('are so many for all databases together, and a request waits a second for one', async () => {
    const server = await startServer({ maxConcurrentConnections: 2 });
    const held = await pipeline(server.urlOf('a'), [BEGIN]);
    await pipeline(server.urlOf('b'), [BEGIN]);
    const refused = await pipeline(server.urlOf('c'), [READ, CLOSE]);
    expect([refused.status, refused.text]).toEqual([
      429,
      '{"error":"Timed out while opening database connection"}',
    ]);
    const waiting = read(server, 'c');
    await sleep(50);
    expect((await pipeline(server.urlOf('a'), [CLOSE], held.baton)).status).toBe(200);
    expect(await waiting).toBe(200);
    server.expireStreams();
    expect(await Promise.all([read(server, 'a'), read(server, 'b')])).toEqual([200, 200]);
  });

  it('are waited for by one less than the most of a database', async () => {
    const server = await startServer({ maxConcurrentConnections: 1, maxConcurrentRequests: 3 });
    await pipeline(server.urlOf('a'), [BEGIN]);
    const waiting = [1, 2, 3].map(() => pipeline(server.urlOf('a'), [READ, CLOSE]));
    const texts = (await Promise.all(waiting)).map(({ status, text }) => `${status} ${text}`);
    expect(texts.toSorted()).toEqual([
      '429 {"error":"Timed out while opening database connection"}',
      '429 {"error":"Timed out while opening database connection"}',
      '429 {"error":"Too many concurrent requests"}',
    ]);
  });
});

describe('more databases than are open at a time', () => {
  it('close one another, and are missing to a request that comes upon it', async () => {
    const server = await startServer({ maxActiveNamespaces: 2 });
    const statuses: number[] = [];
    for (const name of ['a', 'b', 'a', 'c', 'c', 'a', 'b', 'b', 'a']) {
      statuses.push(await read(server, name));
    }
    expect(statuses).toEqual([200, 200, 200, 404, 200, 200, 404, 200, 200]);
  });

  it('have streams that go on, with a lock that others wait for in vain', async () => {
    const server = await startServer({ maxActiveNamespaces: 1 });
    const client = connect(server);
    await client.execute(MAKE);
    const old = await client.transaction('write');
    await old.execute(put('old'));
    await read(server, 'other');
    await read(server, 'test');
    expect(await names(client)).toEqual([]);
    await expect(client.execute(put('new'))).rejects.toMatchObject({ code: 'SQLITE_BUSY' });
    await old.commit();
    await client.execute(put('new'));
    expect(await names(client)).toEqual(['new', 'old']);
  });
});
