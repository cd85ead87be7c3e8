import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import type { Tx, WriteTx } from '../../shared/store/engine/driver.ts';
import { openClient } from '../../shared/store/remote/client.ts';
import { fetchPipeline } from '../../shared/store/remote/fetch.ts';
import { openAuthority, openRemoteReader } from '../../shared/store/remote/open.ts';
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
    ['its database was closed', (remote: RemoteDatabase) => remote.server.faults.failNext(1, 404)],
  ])('is done once when %s', async (_what, trouble) => {
    stopTime();
    const remote = await start();
    const writer = await remote.writer();
    trouble(remote);
    await Promise.all([writer.write(put('a')), writer.write(put('b'))]);
    expect(await remote.reader().read(count)).toBe(2);
    expect(writer.replication.position).toBe(1);
  });

  it('waits for others that hold the database', async () => {
    const remote = await start({ transactionMaxMs: 60_000 });
    const writer = await remote.writer();
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
    const writer = await remote.writer();
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
  ])('are named when they are wrong: %s', async (_what, setting, wrong) => {
    const remote = await start({ token: TOKEN });
    const url = remote.server.urlOf('test').replace('/test/', 'name' in wrong ? '/-/' : '/test/');
    const token = 'token' in wrong ? (wrong.token ?? null) : TOKEN;
    const location = { kind: 'remote', url, token, mirror: '' } as const;
    const errors: unknown[] = await Promise.all([
      openAuthority(location, 'project', false).catch((error: unknown) => error),
      openRemoteReader(location)
        .read(count)
        .catch((error: unknown) => error),
    ]);
    for (const error of errors) {
      expect(error).toMatchObject({
        code: 'UNAVAILABLE',
        cause: { message: expect.stringContaining(setting) },
      });
      expect(told(error)).not.toContain('secret');
    }
  });

  it('with a token that no header takes are refused, and not repeated', async () => {
    const url = 'http://127.0.0.1:1';
    const location = { kind: 'remote', url, token: 'secret\n', mirror: '' } as const;
    const error: unknown = await openAuthority(location, 'project', false).catch(
      (caught: unknown) => caught,
    );
    expect(told(error)).toContain('SVC_DATABASE_TOKEN must be printable');
    expect(told(error)).not.toContain('secret');
  });

  it('are not told to anybody, also when the server repeats them', async () => {
    const url = await refusing();
    const location = { kind: 'remote', url, token: TOKEN, mirror: '' } as const;
    const error: unknown = await openAuthority(location, 'project', false).catch(
      (caught: unknown) => caught,
    );
    expect(told(error)).toContain('refuses SVC_DATABASE_TOKEN');
    expect(told(error)).not.toContain(TOKEN);
  });

  it.each([400, 500])('are not told with status %i either', async (status) => {
    hurryTime();
    const url = await refusing(status);
    const error: unknown = await openRemoteReader({ kind: 'remote', url, token: TOKEN, mirror: '' })
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
