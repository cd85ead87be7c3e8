import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Tx, WriteTx } from '../../shared/store/driver.ts';
import { openClient } from '../../shared/store/remote/client.ts';
import { commitOutcome } from '../../shared/store/remote/lost-commit.ts';
import { RemoteDatabase } from '../helpers/remote-database.ts';
import { stopTime } from '../helpers/stopped-time.ts';

let remote: RemoteDatabase;
beforeEach(async () => {
  remote = await RemoteDatabase.start();
});
afterEach(() => remote.remove());

const INSERT = 'INSERT INTO item (name, value) VALUES (?, ?)';
const put = (name: string) => (tx: WriteTx) => tx.put(INSERT, [name, 1]);
const readThenPut = (name: string) => async (tx: WriteTx) => {
  await tx.get('SELECT count(*) AS n FROM item');
  await tx.put(INSERT, [name, 1]);
};

const count = async (tx: Tx): Promise<number> =>
  Number((await tx.get('SELECT count(*) AS n FROM item'))?.['n']);

/** Counts requests during the work, including those that nobody waits for, which end a stream. */
async function requestsFor(work: () => Promise<unknown>): Promise<number> {
  await streamsEnded();
  remote.server.resetCounters();
  await work();
  // The one request that nobody waits for comes last.
  await streamsEnded();
  return remote.counters.requests;
}

async function streamsEnded(): Promise<void> {
  await expect.poll(() => remote.openStreams, { interval: 5 }).toBe(0);
}

/** Opened like a project's writer, which wants to know about others' commits. */
const shared = { onForeign: () => undefined };

describe('round trips', () => {
  beforeEach(stopTime);

  it.each([
    ['that reads nothing', put],
    ['that reads once, and writes what it read', readThenPut],
  ])('are two and the end of the stream for a write alone %s', async (_what, job) => {
    const writer = await remote.writer(shared);
    expect(await requestsFor(() => writer.write(job('a')))).toBe(3);
  });

  it('are as many for a group of writes that read nothing as for one of them', async () => {
    const writer = await remote.writer(shared);
    const names = Array.from({ length: 100 }, (_, n) => `n${n}`);
    const requests = await requestsFor(() =>
      Promise.all(names.map((name) => writer.write(put(name)))),
    );
    expect(requests).toBe(3);
  });

  it('are more where all together would be a very long request', async () => {
    const writer = await remote.writer(shared);
    const long = Buffer.alloc(300_000, 1);
    const names = Array.from({ length: 10 }, (_, n) => `n${n}`);
    const requests = await requestsFor(() =>
      Promise.all(names.map((name) => writer.write((tx) => tx.put(INSERT, [name, long])))),
    );
    expect(requests).toBe(4);
    const row = await remote
      .reader()
      .read((tx) => tx.get('SELECT sum(length(value)) AS n FROM item'));
    expect(row).toEqual({ n: 3_000_000 });
  });

  it('are one more for each time that a write of a group reads', async () => {
    const writer = await remote.writer(shared);
    const names = Array.from({ length: 10 }, (_, n) => `n${n}`);
    const requests = await requestsFor(() =>
      Promise.all(names.map((name) => writer.write(readThenPut(name)))),
    );
    expect(requests).toBe(2 + names.length);
  });

  it('are one and the end of the stream for a snapshot that asks once, or several things at once', async () => {
    const reader = remote.reader();
    expect(await requestsFor(() => reader.read(count))).toBe(2);
    expect(await requestsFor(() => reader.read((tx) => Promise.all([count(tx), count(tx)])))).toBe(
      2,
    );
  });
});

/** Its read may be stale if others write in between. */
const increment = async (tx: WriteTx) => {
  const row = await tx.get("SELECT value FROM item WHERE name = 'n'");
  const next = Number(row?.['value'] ?? 0) + 1;
  await tx.put('INSERT INTO item VALUES (?, ?) ON CONFLICT DO UPDATE SET value = ?2', ['n', next]);
  return next;
};

describe('two writers of one database', () => {
  it('lose nothing of what each of them counts', async () => {
    const writers = [await remote.writer(shared), await remote.writer(shared)];
    const seen = await Promise.all(
      writers.flatMap((writer) => Array.from({ length: 200 }, () => writer.write(increment))),
    );
    expect(new Set(seen).size).toBe(400);
    expect(Math.max(...seen)).toBe(400);
  });

  it('tell of what the other wrote before the next job runs, and of nothing else', async () => {
    const told: string[] = [];
    const [mine, other] = [
      await remote.writer({ onForeign: () => told.push('foreign') }),
      await remote.writer(shared),
    ];
    const job = (name: string) => async (tx: WriteTx) => {
      await tx.put(INSERT, [name, 1]);
      told.push(name);
    };
    await mine.write(job('a'));
    await mine.write(job('b'));
    expect(told).toEqual(['a', 'b']);
    await other.write(put('x'));
    await mine.write(job('c'));
    // The job was begun before anybody could know, undone, and run once more after that was told.
    expect(told.slice(-2)).toEqual(['foreign', 'c']);
    expect(told.filter((one) => one === 'foreign')).toHaveLength(1);
    expect([mine.replication, other.replication]).toEqual([
      { position: 4, log: null },
      { position: 3, log: null },
    ]);
    expect(await remote.reader().read(count)).toBe(4);
  });

  it('tell the position after each commit, before its jobs are answered', async () => {
    const told: unknown[] = [];
    const writer = await remote.writer({ onReplication: (replication) => told.push(replication) });
    await writer.write(put('a')).then(() => told.push('a'));
    await writer.write(put('b')).then(() => told.push('b'));
    expect(told).toEqual([{ position: 1, log: null }, 'a', { position: 2, log: null }, 'b']);
  });
});

describe('an answer to COMMIT that is lost', () => {
  it('is found out when the work was done: nothing is done twice', async () => {
    const told: number[] = [];
    const writer = await remote.writer({
      ...shared,
      onReplication: ({ position }) => told.push(position),
    });
    remote.server.faults.dropAnswers('commit', 1);
    await writer.write(put('a'));
    expect(await remote.reader().read(count)).toBe(1);
    await writer.write(put('b'));
    expect(told).toEqual([1, 2]);
  });

  it('is found out when the work was not done: it is done again', async () => {
    const writer = await remote.writer(shared);
    let runs = 0;
    const write = writer.write(async (tx) => {
      runs += 1;
      await tx.get('SELECT 1 AS one');
      // The next request is the one with COMMIT.
      remote.server.faults.cutRequests(runs === 1 ? 1 : 0);
      await tx.put(INSERT, ['a', runs]);
    });
    await write;
    expect(runs).toBe(2);
    expect(await remote.reader().read(count)).toBe(1);
    expect(writer.replication.position).toBe(1);
  });

  it('may leave nobody knowing: UNAVAILABLE, with a hint for whoever repeats', async () => {
    const writer = await remote.writer(shared);
    const { faults } = remote.server;
    // The work is done and its answer lost; asking about it finds the server gone.
    faults.drops = (hasCommitted) => {
      if (hasCommitted) faults.failNext(1000);
      return hasCommitted;
    };
    await expect(writer.write(put('a'))).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      hint: expect.stringContaining('same idempotency key'),
      details: { retry_after: 5 },
    });
    faults.drops = () => false;
    faults.failNext(0);
    await writer.write(put('b'));
    expect(await remote.reader().read(count)).toBe(2);
  });

  it.each([
    ['its own name is the last one', { token: 'mine', base: 9 }, 'committed'],
    ['nothing was committed since', { token: 'other', base: 10 }, 'lost'],
    ['the one commit since was of somebody else', { token: 'other', base: 9 }, 'lost'],
    ['others have committed twice since', { token: 'other', base: 8 }, 'unknown'],
  ])('is judged by what stands in the database: %s', async (_what, group, outcome) => {
    const writer = await remote.writer();
    await writer.write(async (tx) => {
      await tx.put("UPDATE meta SET value = 9 WHERE name = 'commit_seq'");
    });
    const client = openClient(remote.location);
    await client.execute("UPDATE meta SET value = 'mine' WHERE name = 'last_group'");
    expect(await commitOutcome(client, group)).toMatchObject({ outcome });
    client.close();
  });
});
