import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import type { Tx, WriteTx } from '../../shared/store/driver.ts';
import { openClient } from '../../shared/store/remote/client.ts';
import { fetchPipeline } from '../../shared/store/remote/fetch.ts';
import { openRemoteReader, openRemoteWriter } from '../../shared/store/remote/open.ts';
import type { HranaOptions } from '../helpers/hrana/server.ts';
import { hurryTime } from '../helpers/hurried-time.ts';
import { RemoteDatabase } from '../helpers/remote-database.ts';
import { stopTime } from '../helpers/stopped-time.ts';

const started: RemoteDatabase[] = [];
afterEach(async () => {
  for (const remote of started.splice(0)) await remote.remove();
});

async function start(options: Partial<HranaOptions> = {}): Promise<RemoteDatabase> {
  const remote = await RemoteDatabase.start(options);
  started.push(remote);
  return remote;
}

const INSERT = 'INSERT INTO item (name, value) VALUES (?, ?)';
const put = (name: string) => (tx: WriteTx) => tx.put(INSERT, [name, 1]);
const count = async (tx: Tx): Promise<number> =>
  Number((await tx.get('SELECT count(*) AS n FROM item'))?.['n']);
const shared = { onForeign: () => undefined };

/** Runs `trouble` in the middle of a write, the first time it runs. */
function troubled(trouble: () => unknown): (tx: WriteTx) => Promise<number> {
  let runs = 0;
  return async (tx) => {
    runs += 1;
    await tx.run(INSERT, ['a', 1]);
    if (runs === 1) trouble();
    await tx.run(INSERT, ['b', 1]);
    return runs;
  };
}

/** Everything a caller or the log may see of an error. */
function told(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return [error.message, error.stack, told(error.cause ?? '')].join('\n');
}

describe('a write', () => {
  it.each([
    ['the line is cut', (remote: RemoteDatabase) => remote.server.faults.cutRequests(1)],
    ['an answer is lost', (remote: RemoteDatabase) => remote.server.faults.dropAnswers('any', 1)],
    ['the server is away', (remote: RemoteDatabase) => remote.server.faults.failNext(1, 502)],
    ['the stream is forgotten', (remote: RemoteDatabase) => remote.server.expireStreams()],
  ])('is done again whole, and once, when %s in the middle of it', async (_what, trouble) => {
    stopTime();
    // The server ends what nobody asks for any more when another waits for it.
    const remote = await start({ transactionMaxMs: 100 });
    const writer = await remote.writer(shared);
    const [runs] = await Promise.all([
      writer.write(troubled(() => trouble(remote))),
      writer.write(put('c')),
    ]);
    expect(runs).toBe(2);
    expect(await remote.reader().read(count)).toBe(3);
    expect(writer.replication.position).toBe(1);
  });

  it('is done again when the server ends its transaction for another one', async () => {
    const remote = await start({ transactionMaxMs: 50 });
    const [writer, other] = [await remote.writer(shared), await remote.writer(shared)];
    const others: Promise<unknown>[] = [];
    const slow = writer.write(
      troubled(() => {
        remote.server.faults.latencyMs = 150;
        others.push(other.write(put('c')));
      }),
    );
    await slow;
    remote.server.faults.latencyMs = 0;
    await Promise.all(others);
    expect(await remote.reader().read(count)).toBe(3);
  });

  it('waits for others that hold the database, longer than the server does', async () => {
    const remote = await start({ lockWaitMs: 50, transactionMaxMs: 60_000 });
    const writer = await remote.writer(shared);
    const client = openClient(remote.location);
    const holder = await client.transaction('write');
    await holder.execute("INSERT INTO item VALUES ('held', 1)");
    const write = writer.write(put('a'));
    await new Promise((resolve) => setTimeout(resolve, 300));
    await holder.commit();
    await write;
    client.close();
    expect(await remote.reader().read(count)).toBe(2);
  });

  it('is UNAVAILABLE when all that goes on for long, with all that waits, and later goes well', async () => {
    hurryTime();
    const remote = await start();
    const writer = await remote.writer(shared);
    remote.server.faults.failNext(1000);
    const names = Array.from({ length: 300 }, (_, n) => `n${n}`);
    const settled = await Promise.allSettled(names.map((name) => writer.write(put(name))));
    expect(new Set(settled.map(({ status }) => status))).toEqual(new Set(['rejected']));
    expect(settled[299]).toMatchObject({
      reason: { code: 'UNAVAILABLE', details: { retry_after: 5 }, cause: { status: 503 } },
    });
    remote.server.faults.failNext(0);
    await writer.write(put('a'));
    expect(await remote.reader().read(count)).toBe(1);
  });

  it('does not wait for ever behind many that must run apart: they go in portions', async () => {
    const remote = await start();
    const writer = await remote.writer(shared);
    await writer.write(put('taken'));
    remote.server.faults.latencyMs = 20;
    const names = Array.from({ length: 60 }, (_, n) => (n === 5 ? 'taken' : `n${n}`));
    const settled = await Promise.allSettled(names.map((name) => writer.write(put(name))));
    expect(settled.filter(({ status }) => status === 'rejected')).toHaveLength(1);
    expect(settled[5]).toMatchObject({ reason: { code: 'SQLITE_CONSTRAINT' } });
    expect(await remote.reader().read(count)).toBe(60);
    expect(writer.replication.position).toBeGreaterThan(2);
  });

  it('whose text the server cannot read fails alone', async () => {
    const remote = await start();
    const writer = await remote.writer(shared);
    const settled = await Promise.allSettled([
      writer.write(put('a')),
      writer.write((tx) => tx.put('SELECT 1; SELECT 2')),
      writer.write(put('b')),
    ]);
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await remote.reader().read(count)).toBe(2);
  });

  it('leaves nothing of a job that awaits something else, also when its statements are under way', async () => {
    const remote = await start();
    const writer = await remote.writer(shared);
    const settled = await Promise.allSettled([
      writer.write(put('a')),
      writer.write(async (tx) => {
        await tx.run(INSERT, ['x', 1]);
        await new Promise((resolve) => setTimeout(resolve, 200));
      }),
      writer.write(async (tx) => {
        void tx.run(INSERT, ['y', 1]).catch(() => undefined);
        throw new Error('not interested');
      }),
      writer.write(put('b')),
    ]);
    expect(settled.map(({ status }) => status === 'fulfilled')).toEqual([true, false, false, true]);
    expect(await remote.reader().read(count)).toBe(2);
  });
});

describe('a snapshot', () => {
  it.each([
    ['the line is cut', (remote: RemoteDatabase) => remote.server.faults.cutRequests(2)],
    ['an answer is lost', (remote: RemoteDatabase) => remote.server.faults.dropAnswers('any', 1)],
    ['the server is away', (remote: RemoteDatabase) => remote.server.faults.failNext(3)],
    ['the stream is forgotten', (remote: RemoteDatabase) => remote.server.expireStreams()],
  ])('is read again from the beginning when %s', async (_what, trouble) => {
    const remote = await start();
    await (await remote.writer()).write(put('a'));
    let runs = 0;
    const seen = await remote.reader().read(async (tx) => {
      runs += 1;
      const first = await count(tx);
      if (runs === 1) trouble(remote);
      return [first, await count(tx)];
    });
    expect(seen).toEqual([1, 1]);
    expect(runs).toBeGreaterThan(1);
  });

  it('is UNAVAILABLE when the server is away for long', async () => {
    hurryTime();
    const remote = await start();
    const reader = remote.reader();
    remote.server.faults.failNext(1000);
    await expect(reader.read(count)).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      details: { retry_after: 5 },
    });
    remote.server.faults.failNext(0);
    expect(await reader.read(count)).toBe(0);
  });

  it('waits for its turn behind 32 others, and they for nobody', async () => {
    const remote = await start();
    const reader = remote.reader();
    let [now, most] = [0, 0];
    const reads = Array.from({ length: 100 }, () =>
      reader.read(async (tx) => {
        now += 1;
        most = Math.max(most, now);
        await count(tx);
        now -= 1;
      }),
    );
    const closed = reader.close();
    await Promise.all([...reads, closed]);
    expect(most).toBe(32);
  });
});

describe('settings', () => {
  const TOKEN = 'a-secret-of-the-database';

  it('that are right are no trouble', async () => {
    const remote = await start({ token: TOKEN });
    await (await remote.writer()).write(put('a'));
    expect(await remote.reader().read(count)).toBe(1);
  });

  it.each([
    ['a token that the server refuses', 'SVC_DATABASE_TOKEN', { token: 'another-secret' }],
    ['no token', 'SVC_DATABASE_TOKEN', { token: null }],
    ['no database of that name', 'SVC_DATABASE_URL', { name: 'missing' }],
  ])('are named when they are wrong, at once: %s', async (_what, setting, wrong) => {
    const remote = await start({ token: TOKEN });
    const url = remote.server.urlOf('test').replace('/test/', 'name' in wrong ? '/-/' : '/test/');
    const token = 'token' in wrong ? (wrong.token ?? null) : TOKEN;
    const location = { kind: 'remote', url, token } as const;
    const trials = [
      openRemoteWriter(location, 'project', { isMade: false }),
      openRemoteReader(location).read(count),
    ];
    for (const trial of trials) {
      const error: unknown = await trial.catch((caught: unknown) => caught);
      expect(error).toMatchObject({
        code: 'UNAVAILABLE',
        cause: { message: expect.stringContaining(setting) },
      });
      expect(told(error)).not.toContain('secret');
    }
  });

  it('with a token that no header takes are refused, and not repeated', async () => {
    const location = { kind: 'remote', url: 'http://127.0.0.1:1', token: 'secret\n' } as const;
    const error: unknown = await openRemoteWriter(location, 'project', { isMade: false }).catch(
      (caught: unknown) => caught,
    );
    expect(told(error)).toContain('SVC_DATABASE_TOKEN must be printable');
    expect(told(error)).not.toContain('secret');
  });

  it('are not told to anybody, also when the server repeats them', async () => {
    const location = { kind: 'remote', url: await refusing(), token: TOKEN } as const;
    const error: unknown = await openRemoteWriter(location, 'project', { isMade: false }).catch(
      (caught: unknown) => caught,
    );
    expect(told(error)).toContain('refuses SVC_DATABASE_TOKEN');
    expect(told(error)).not.toContain(TOKEN);
  });

  it.each([400, 500])('are not told with status %i either', async (status) => {
    hurryTime();
    const url = await refusing(status);
    const error: unknown = await openRemoteReader({ kind: 'remote', url, token: TOKEN })
      .read(count)
      .catch((caught: unknown) => caught);
    expect(told(error)).toContain(`status ${status}`);
    expect(told(error)).not.toContain(TOKEN);
  });
});

it('a refusal without an end is cut off', async () => {
  const url = await serving((_, response) => {
    response.writeHead(500);
    const more = (): void => {
      while (response.write('all work and no play '.repeat(1000)));
    };
    response.on('drain', more);
    more();
  });
  const error: unknown = await fetchPipeline(
    new Request(url, { method: 'POST', body: '{}' }),
  ).catch((caught: unknown) => caught);
  expect(told(error)).toContain('status 500: all work and no play');
  expect(told(error).length).toBeLessThan(2000);
});

/** A server that repeats the refused token. */
function refusing(status = 401): Promise<string> {
  return serving((request, response) => {
    response.writeHead(status).end(`no: ${request.headers.authorization}`);
  });
}

async function serving(answer: RequestListener): Promise<string> {
  const server: Server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}
