import { readFileSync, statSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Tx, WriteTx } from '../../shared/store/driver.ts';

import { openDatabase } from '../helpers/database.ts';

let open: ReturnType<typeof openDatabase>;
beforeEach(() => {
  open = openDatabase();
});
afterEach(() => open.remove());

const INSERT = 'INSERT INTO item (name, value) VALUES (?, ?)';
const put = (name: string) => (tx: WriteTx) => tx.run(INSERT, [name, 1]);

const half = async (tx: WriteTx) => {
  await tx.run(INSERT, ['half', 1]);
  throw new Error('refused late');
};

/** Adds one to a sum that the group writes once. */
const count = (fail: boolean) => async (tx: WriteTx) => {
  const { group } = tx;
  if (!group) throw new Error('a write has a group');
  await tx.run('UPDATE item SET value = value WHERE name = ?', ['none']);
  group.carried.set('count', Number(group.carried.get('count') ?? 0) + 1);
  group.atEnd('count', async (end: Tx) => {
    await end.run(
      "INSERT INTO item VALUES ('sum', ?) ON CONFLICT DO UPDATE SET value = value + excluded.value",
      [Number(group.carried.get('count'))],
    );
    group.carried.delete('count');
  });
  if (fail) throw new Error('undone');
};

async function names(): Promise<string[]> {
  const rows = await open.database.read((tx) => tx.all('SELECT name FROM item ORDER BY name'));
  return rows.map((row) => String(row['name']));
}

async function commits(): Promise<number> {
  const row = await open.database.read((tx) =>
    tx.get("SELECT value FROM meta WHERE name = 'commit_seq'"),
  );
  return Number(row?.['value']);
}

describe('group commit', () => {
  it('lets many parallel writes share few commits, and counts the commits', async () => {
    await open.database.write(put('first'));
    expect(await commits()).toBe(1);
    const many = Array.from({ length: 500 }, (_, index) => open.database.write(put(`n${index}`)));
    await Promise.all(many);
    // 500 jobs at no more than 128 a group, and each group as full as what was queued.
    expect(await commits()).toBeGreaterThanOrEqual(1 + Math.ceil(500 / 128));
    expect(await commits()).toBeLessThan(100);
    expect(await names()).toHaveLength(501);
  });

  it('gives a lone write its own commit at once', async () => {
    for (const name of ['a', 'b', 'c']) await open.database.write(put(name));
    expect(await commits()).toBe(3);
  });

  it('runs jobs strictly one after another, in the order they came', async () => {
    const order: string[] = [];
    const job = (name: string) => async (tx: WriteTx) => {
      order.push(`${name} begins`);
      await tx.run(INSERT, [name, 1]);
      await tx.get('SELECT 1 AS one');
      order.push(`${name} ends`);
    };
    await Promise.all(['a', 'b', 'c', 'd'].map((name) => open.database.write(job(name))));
    expect(order).toEqual(
      ['a', 'b', 'c', 'd'].flatMap((name) => [`${name} begins`, `${name} ends`]),
    );
  });

  it('shows a job what the jobs before it wrote, and a reader only what is committed', async () => {
    const seen: unknown[] = [];
    const first = open.database.write(put('a'));
    const during = open.database.write(async (tx) => {
      seen.push(await tx.get('SELECT count(*) AS n FROM item'));
    });
    const early = open.database.read((tx) => tx.get('SELECT count(*) AS n FROM item'));
    expect(await early).toEqual({ n: 0 });
    await Promise.all([first, during]);
    expect(seen.at(-1)).toEqual({ n: 1 });
  });

  it('fails a job that had written nothing without disturbing its neighbours', async () => {
    const settled = await Promise.allSettled([
      open.database.write(put('a')),
      open.database.write(() => Promise.reject(new Error('refused early'))),
      open.database.write(put('b')),
    ]);
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(settled[1]).toMatchObject({ reason: { message: 'refused early' } });
    expect(await names()).toEqual(['a', 'b']);
  });

  it('undoes a job that failed after its first write, and nothing of its neighbours', async () => {
    const settled = await Promise.allSettled([
      open.database.write(put('a')),
      open.database.write(half),
      open.database.write(put('b')),
      open.database.write(half),
      open.database.write(put('c')),
    ]);
    expect(settled.map(({ status }) => status === 'fulfilled')).toEqual([
      true,
      false,
      true,
      false,
      true,
    ]);
    expect(await names()).toEqual(['a', 'b', 'c']);
  });

  it('fails only the job whose statement breaks a constraint', async () => {
    await open.database.write(put('taken'));
    const settled = await Promise.allSettled(
      ['a', 'taken', 'b'].map((name) => open.database.write(put(name))),
    );
    expect(settled[1]).toMatchObject({ reason: { code: 'SQLITE_CONSTRAINT_PRIMARYKEY' } });
    expect(await names()).toEqual(['a', 'b', 'taken']);
  });

  it.each([
    ['before its first write', false],
    ['after its first write', true],
  ])('records a refusal %s by onError, in the same transaction', async (_when, writes) => {
    const refused = open.database.write<string>(
      async (tx) => {
        if (writes) await tx.run(INSERT, ['half', 1]);
        throw new Error('no');
      },
      {
        onError: async (tx, error) => {
          await tx.run(INSERT, ['record', (error as Error).message]);
          return 'recorded';
        },
      },
    );
    const settled = await Promise.all([
      open.database.write(put('a')),
      refused,
      open.database.write(put('b')),
    ]);
    expect(settled[1]).toBe('recorded');
    expect(await names()).toEqual(['a', 'b', 'record']);
    const row = await open.database.read((tx) =>
      tx.get("SELECT value FROM item WHERE name = 'record'"),
    );
    expect(row).toEqual({ value: 'no' });
  });

  it('gives the caller what onError throws, with the record of onError undone', async () => {
    const refused = open.database.write(() => Promise.reject(new Error('first')), {
      onError: async (tx) => {
        await tx.run(INSERT, ['record', 1]);
        throw new Error('second');
      },
    });
    await expect(refused).rejects.toThrow('second');
    expect(await names()).toEqual([]);
  });

  it('runs what jobs add up once at the end, also when a neighbour is undone', async () => {
    await Promise.allSettled(
      [false, false, true, false, false].map((f) => open.database.write(count(f))),
    );
    const row = await open.database.read((tx) =>
      tx.get("SELECT value FROM item WHERE name = 'sum'"),
    );
    expect(row).toEqual({ value: 4 });
  });
});

describe('a transaction', () => {
  it('refuses a job that awaits something else, and goes on with the others', async () => {
    const settled = await Promise.allSettled([
      open.database.write(put('a')),
      open.database.write(async (tx) => {
        await new Promise((resolve) => setTimeout(resolve, 5));
        await tx.run(INSERT, ['late', 1]);
      }),
      open.database.write(put('b')),
    ]);
    expect(settled[1]).toMatchObject({
      reason: { message: expect.stringContaining('awaited something other') },
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await names()).toEqual(['a', 'b']);
  });

  it('refuses a snapshot that awaits something else', async () => {
    const read = open.database.read(() => new Promise((resolve) => setTimeout(resolve, 5)));
    await expect(read).rejects.toThrow('awaited something other');
    expect(await names()).toEqual([]);
  });

  it('is dead once its function has settled', async () => {
    const kept: Tx[] = [];
    await open.database.write(async (tx) => {
      kept.push(tx);
    });
    await open.database.read(async (tx) => {
      kept.push(tx);
    });
    await open.database
      .write(async (tx) => {
        kept.push(tx);
        throw new Error('no');
      })
      .catch(() => undefined);
    expect(kept).toHaveLength(3);
    for (const tx of kept) {
      await expect(tx.get('SELECT 1 AS one')).rejects.toThrow('has ended');
      await expect(tx.run(INSERT, ['x', 1])).rejects.toThrow('has ended');
      await expect(tx.all('SELECT 1 AS one')).rejects.toThrow('has ended');
    }
  });
});

describe('a transaction that the database rolled back by itself', () => {
  it.each([
    ['a job that failed', true],
    ['a job that did not mind', false],
  ])('fails what ran in it, after %s, and what follows has one of its own', async (_, fails) => {
    // What SQLite may do on a failed read of a page; the job itself has written nothing.
    const lost = async (tx: WriteTx) => {
      await tx.get('ROLLBACK');
      if (fails) throw new Error('disk I/O error');
      return 1;
    };
    const jobs = [put('a'), lost, put('c'), put('d')].map((job) => open.database.write(job));
    const outcomes = await Promise.allSettled(jobs);
    expect(outcomes.map(({ status }) => status)).toEqual([
      'rejected',
      'rejected',
      'fulfilled',
      'fulfilled',
    ]);
    expect(await names()).toEqual(['c', 'd']);
    expect(await commits()).toBe(1);
  });
});

describe('rotation on demand', () => {
  it('leaves nothing of deleted rows in the log', async () => {
    await open.database.write((tx) => tx.run(INSERT, ['the secret of a payload', 1]));
    await open.database.write((tx) => tx.run('DELETE FROM item'));
    await open.database.rotate();
    expect(await names()).toEqual([]);
    expect(statSync(`${open.path}-wal`).size).toBe(0);
    expect(readFileSync(open.path).includes('the secret of a payload')).toBe(false);
  });
});
