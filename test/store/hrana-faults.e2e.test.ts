import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { HranaProcess } from '../helpers/hrana/process.ts';
import type { HranaOptions } from '../helpers/hrana/server.ts';
import { startReplica, type Replica } from '../helpers/replica.ts';
import { connect, create, folderOfTest, MAKE, names, put, startServer } from './hrana-world.ts';

async function startProcess(options: HranaOptions): Promise<HranaProcess> {
  const server = await HranaProcess.start(options);
  onTestFinished(() => server.end('SIGKILL'));
  return server;
}

describe('the server', () => {
  it('wants the token', async () => {
    const server = await startServer({ token: 'secret' });
    const wrong = connect(server, { authToken: 'other' }).execute('SELECT 1');
    await expect(wrong).rejects.toMatchObject({ cause: { status: 401 } });
    const right = await connect(server, { authToken: 'secret' }).execute('SELECT 1 AS n');
    expect(right.rows[0]?.['n']).toBe(1n);
  });

  it('knows a database when it was created', async () => {
    const server = await startServer({ create: 'api' });
    const client = connect(server);
    await expect(client.execute('SELECT 1')).rejects.toMatchObject({ cause: { status: 404 } });
    expect((await create(server, 'test')).status).toBe(200);
    const again = await create(server, 'test');
    expect([again.status, await again.json()]).toEqual([
      400,
      { error: 'Namespace `test` already exists' },
    ]);
    await client.execute(MAKE);
    expect(await names(client)).toEqual([]);
  });

  it('says which versions it speaks, and no more', async () => {
    const url = (await startServer()).urlOf('test');
    const statuses = ['v2', 'v3', 'v3-protobuf', 'info', 'export/1', 'sync/1/1/2'].map(
      async (path) => (await fetch(url + path)).status,
    );
    expect(await Promise.all(statuses)).toEqual([200, 200, 404, 404, 404, 404]);
  });

  it('is killed, and has what it had committed', async () => {
    const folder = folderOfTest();
    const first = await startProcess({ folder });
    const client = connect(first);
    await client.batch([MAKE, put('kept')], 'write');
    const left = await client.transaction('write');
    await left.execute(put('left'));
    await first.end('SIGKILL');
    const port = Number(new URL(first.url).port);
    const second = await startProcess({ folder, port });
    await expect(left.commit()).rejects.toMatchObject({ cause: { status: 400 } });
    expect(await names(client)).toEqual(['kept']);
    await second.faults({ dropAnswers: { kind: 'commit', times: 1 } });
    await expect(client.execute(put('unanswered'))).rejects.toThrow('fetch failed');
    expect(await names(client)).toEqual(['kept', 'unanswered']);
    expect(await second.counters('test')).toMatchObject({ transactions: 0, requests: 4 });
  });

  it('is told from another process what goes wrong', async () => {
    const server = await startProcess({
      folder: folderOfTest(),
      token: 'secret',
      streamIdleMs: 60_000,
    });
    const client = connect(server, { authToken: 'secret' });
    await client.execute(MAKE);
    const left = await client.transaction('write');
    await left.execute(put('left'));
    await server.expireStreams();
    await expect(left.commit()).rejects.toMatchObject({ code: 'STREAM_EXPIRED' });
    await server.faults({ failNext: 1, failStatus: 502 });
    await expect(names(client)).rejects.toMatchObject({ cause: { status: 502 } });
    await server.faults({ cutRequests: 1 });
    await expect(names(client)).rejects.toThrow('fetch failed');
    await server.faults({ paused: true, latencyMs: 1 });
    await server.resetCounters();
    const held = names(client);
    expect(await server.counters('test')).toEqual({ requests: 0, statements: 0, transactions: 0 });
    await server.faults({ paused: false });
    expect(await held).toEqual([]);
    expect(await server.counters('test')).toEqual({ requests: 1, statements: 1, transactions: 0 });
  });
});

describe('faults', () => {
  it('lose the answer to a commit, which was done', async () => {
    const server = await startServer();
    const client = connect(server);
    await client.execute(MAKE);
    server.faults.dropAnswers('commit', 1);
    const transaction = await client.transaction('write');
    await transaction.execute(put('a'));
    await expect(transaction.commit()).rejects.toThrow('fetch failed');
    expect(await names(client)).toEqual(['a']);
    server.faults.dropAnswers('any', 1);
    await expect(names(client)).rejects.toThrow('fetch failed');
    expect(await names(client)).toEqual(['a']);
  });

  it('come before the work', async () => {
    const server = await startServer();
    const client = connect(server);
    await client.execute(MAKE);
    server.faults.cutRequests(1);
    await expect(client.execute(put('cut'))).rejects.toThrow('fetch failed');
    server.faults.failNext(2);
    await expect(client.execute(put('a'))).rejects.toMatchObject({ cause: { status: 503 } });
    await expect(client.execute(put('b'))).rejects.toMatchObject({ cause: { status: 503 } });
    server.faults.failNext(1, 502);
    await expect(client.execute(put('c'))).rejects.toMatchObject({ cause: { status: 502 } });
    expect(await names(client)).toEqual([]);
  });

  it('hold requests until they may go on', async () => {
    const server = await startServer();
    const client = connect(server);
    await client.execute(MAKE);
    server.resetCounters();
    server.faults.pause();
    const held = client.execute(put('held'));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(server.counters('test').requests).toBe(0);
    server.faults.resume();
    expect((await held).rowsAffected).toBe(1);
  });
});

const big = (name: string, sizeBytes: number) => ({
  sql: 'INSERT INTO item VALUES (?, ?)',
  args: [name, new Uint8Array(sizeBytes)],
});

/** A synced replica's names, and whether it's whole. */
async function contentOf(replica: Replica): Promise<unknown> {
  const content = await replica.sync();
  return 'rows' in content ? [content.integrity, ...content.rows.map(([name]) => name)] : content;
}

function replicaOf(url: string): Replica {
  const replica = startReplica(join(folderOfTest(), 'replica.db'), url);
  onTestFinished(() => replica.end());
  return replica;
}

describe('replicas', () => {
  it('copy and follow', async () => {
    const server = await startServer({ replication: true });
    const client = connect(server);
    await client.batch([MAKE, put('a')], 'write');
    const replica = replicaOf(`${server.url}/test`);
    expect(await contentOf(replica)).toEqual(['ok', 'a']);
    await client.execute(big('b', 3_000_000));
    const undone = await client.transaction('write');
    await undone.execute(big('undone', 12_000_000));
    expect(await contentOf(replica)).toEqual(['ok', 'a', 'b']);
    await undone.rollback();
    await client.execute(put('c'));
    expect(await contentOf(replica)).toEqual(['ok', 'a', 'b', 'c']);
  });

  it('go on when the server was killed and started again', async () => {
    const folder = folderOfTest();
    const first = await startProcess({ folder, replication: true });
    const client = connect(first);
    await client.batch([MAKE, put('a')], 'write');
    const replica = replicaOf(`${first.url}/test`);
    expect(await contentOf(replica)).toEqual(['ok', 'a']);
    await client.execute(put('b'));
    await first.end('SIGKILL');
    await startProcess({ folder, replication: true, port: Number(new URL(first.url).port) });
    await client.execute(put('c'));
    expect(await contentOf(replica)).toEqual(['ok', 'a', 'b', 'c']);
    expect(await contentOf(replicaOf(`${first.url}/test`))).toEqual(['ok', 'a', 'b', 'c']);
  });

  it('need the token', async () => {
    const server = await startServer({ replication: true, token: 'secret' });
    const info = (token: string) =>
      fetch(`${server.url}/test/info`, { headers: { authorization: `Bearer ${token}` } });
    expect((await info('other')).status).toBe(401);
    expect(await (await info('secret')).json()).toEqual({ current_generation: 1 });
  });

  it('are told when there is nothing new, and nothing of another generation', async () => {
    const server = await startServer({ replication: true });
    await connect(server).execute(MAKE);
    const get = async (path: string) => {
      const response = await fetch(`${server.url}/test/${path}`);
      return [response.status, (await response.arrayBuffer()).byteLength];
    };
    expect(await get('export/1')).toEqual([200, 4096]);
    expect(await get('export/2')).toEqual([404, 21]);
    expect(await get('sync/1/1/2')).toEqual([200, 4120]);
    expect(await get('sync/1/1000/1001')).toEqual([400, 16]);
    expect(await get('sync/1/2/2')).toEqual([404, 21]);
    expect(await get('sync/2/1/2')).toEqual([404, 21]);
  });
});
