import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Tx, WriteTx } from '../../shared/store/engine/driver.ts';
import { RemoteAuthority } from '../../shared/store/remote/authority.ts';
import { openClient } from '../../shared/store/remote/client.ts';
import { RemoteDatabase } from '../helpers/remote-database.ts';
import { hurryTime } from '../helpers/hurried-time.ts';
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

describe('round trips', () => {
  beforeEach(stopTime);

  it.each([
    ['that reads nothing', put],
    ['that reads once, and writes what it read', readThenPut],
  ])('are one for a write alone %s', async (_what, job) => {
    const writer = await remote.writer();
    expect(await requestsFor(() => writer.write(job('a')))).toBe(1);
  });

  it.each([
    ['read nothing', put],
    ['each read', readThenPut],
  ])('are as many for a group of writes that %s as for one of them', async (_what, job) => {
    const writer = await remote.writer();
    const names = Array.from({ length: 100 }, (_, n) => `n${n}`);
    const requests = await requestsFor(() =>
      Promise.all(names.map((name) => writer.write(job(name)))),
    );
    expect(requests).toBe(1);
  });

  it('are one for many that catch up at the same time', async () => {
    const writer = await remote.writer();
    const all = Array.from({ length: 100 }, () => writer.catchUp());
    expect(await requestsFor(() => Promise.all(all))).toBe(1);
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
    const writers = [await remote.writer(), await remote.writer()];
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
      await remote.writer(),
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
    await other.catchUp();
    expect(other.replication).toEqual({ position: 4, log: null });
    expect(await remote.reader().read(count)).toBe(4);
  });

  it('tell the position after each commit, before its jobs are answered', async () => {
    const told: unknown[] = [];
    const onReplication = (replication: unknown): unknown => told.push(replication);
    const writer = await remote.writer({ replication: { now: () => 0, onReplication } });
    await writer.write(put('a')).then(() => told.push('a'));
    await writer.write(put('b')).then(() => told.push('b'));
    expect(told).toEqual([{ position: 1, log: null }, 'a', { position: 2, log: null }, 'b']);
  });
});

describe('an answer to COMMIT that is lost', () => {
  it('is found out when the work was done: nothing is done twice', async () => {
    const told: number[] = [];
    const onReplication = ({ position }: { position: number }): unknown => told.push(position);
    const writer = await remote.writer({ replication: { now: () => 0, onReplication } });
    remote.server.faults.dropAnswers('commit', 1);
    await writer.write(put('a'));
    expect(await remote.reader().read(count)).toBe(1);
    await writer.write(put('b'));
    expect(told).toEqual([1, 2]);
  });

  it('is sent again when the work was not done', async () => {
    const writer = await remote.writer();
    let runs = 0;
    remote.server.faults.cutRequests(1);
    await writer.write(async (tx) => {
      runs += 1;
      await tx.put(INSERT, ['a', runs]);
    });
    expect(runs).toBe(1);
    expect(await remote.reader().read(count)).toBe(1);
    expect(writer.replication.position).toBe(1);
  });

  it('may leave nobody knowing: UNAVAILABLE, with a hint for whoever repeats', async () => {
    hurryTime();
    const writer = await remote.writer();
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
    expect(writer.replication.position).toBe(2);
  });

  it('is settled by an empty group if the server never saw the request', async () => {
    // Slowly enough that a busy machine makes all of its tries.
    hurryTime(3);
    const writer = await remote.writer();
    const { faults } = remote.server;
    let tries = 0;
    const fate = faults.fate.bind(faults);
    // Every try of the group is cut, and whatever is not the group gets through.
    faults.fate = async () => {
      tries += 1;
      return tries < 8 ? 'cut' : fate();
    };
    await writer.write(put('a'));
    expect(await remote.reader().read(count)).toBe(1);
  });
});

describe('a mirror', () => {
  it('that was closed takes in what others wrote meanwhile', async () => {
    const [first, other] = [await remote.writer(), await remote.writer()];
    await first.write(put('a'));
    await other.write(put('b'));
    await other.write(put('c'));
    await first.catchUp();
    expect(first.replication.position).toBe(3);
    await first.write(put('d'));
    expect(await remote.reader().read(count)).toBe(4);
  });

  it('is outdated, and says so once, when the server has dropped what it lacks', async () => {
    const told: string[] = [];
    const [mine, other] = [
      await remote.writer({ onOutdated: () => told.push('outdated') }),
      await remote.writer(),
    ];
    await mine.write(put('a'));
    await other.write(put('b'));
    const client = openClient(remote.location);
    await client.execute('DELETE FROM group_log');
    client.close();
    await other.write(put('c'));
    const settled = await Promise.allSettled([mine.write(put('d')), mine.catchUp()]);
    expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(told).toEqual(['outdated']);
    expect(await remote.reader().read(count)).toBe(3);
  });

  it('is outdated when the server has another history', async () => {
    const told: string[] = [];
    const mine = await remote.writer({ onOutdated: () => told.push('outdated') });
    await mine.write(put('a'));
    const client = openClient(remote.location);
    await client.batch([
      "UPDATE meta SET value = 7 WHERE name = 'commit_seq'",
      "UPDATE meta SET value = 'restored' WHERE name = 'last_group'",
      'DELETE FROM group_log',
    ]);
    client.close();
    await expect(mine.write(put('b'))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(told).toEqual(['outdated']);
  });

  it('finds no group in the log that is older than a day, once somebody has written', async () => {
    let now = 0;
    const authority = new RemoteAuthority(openClient(remote.location), { now: () => now });
    for (const hours of [0, 1, 23, 26]) {
      now = hours * 3_600_000;
      const group = { token: `at ${hours} h`, statements: [] };
      await authority.accept(await authority.newest(), group);
    }
    authority.close();
    const kept = await remote.reader().read((tx) => tx.all('SELECT token FROM group_log'));
    expect(kept.map(({ token }) => token)).toEqual(['at 23 h', 'at 26 h']);
  });

  it('repeats each value with its type', async () => {
    const [first, other] = [await remote.gateway(), await remote.gateway()];
    const values = [
      1,
      -1,
      0.5,
      2 ** 40,
      9_007_199_254_740_993n,
      'é🙂',
      Buffer.from([0, 255]),
      null,
    ];
    await first.writer.write(async (tx) => {
      for (const [n, value] of values.entries()) await tx.put(INSERT, [`n${n}`, value]);
    });
    await other.writer.catchUp();
    const sql = 'SELECT name, typeof(value) AS type, quote(value) AS value FROM item ORDER BY name';
    const shown = [remote.reader(), first.newReader(), other.newReader()].map((reader) =>
      reader.read((tx) => tx.all(sql)),
    );
    const [server, mine, others] = await Promise.all(shown);
    expect(mine).toEqual(server);
    expect(others).toEqual(server);
    expect(server).toHaveLength(values.length);
  });
});
