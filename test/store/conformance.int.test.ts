import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Reader, Tx, WriteTx } from '../../shared/store/engine/driver.ts';
import { DRIVERS, type OpenStore } from '../helpers/drivers.ts';

let open: OpenStore;

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

async function countIn(reader: Reader): Promise<number> {
  const row = await reader.read((tx) => tx.get('SELECT count(*) AS n FROM item'));
  return Number(row?.['n']);
}

describe.each(DRIVERS)('%s', (_name, openIt) => {
  beforeEach(async () => {
    open = await openIt();
  });
  afterEach(() => open.remove());

  describe('group commit', () => {
    it('lets many parallel writes share few commits, and counts the commits', async () => {
      await open.database.write(put('first'));
      expect(await commits()).toBe(1);
      const many = Array.from({ length: 500 }, (_, index) => open.database.write(put(`n${index}`)));
      await Promise.all(many);
      // 500 jobs in groups of at most 128, each as full as the queue allows.
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
      expect(settled[1]).toMatchObject({
        reason: { code: expect.stringMatching(/^SQLITE_CONSTRAINT/) },
      });
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

  describe('a database', () => {
    it('refuses with UNAVAILABLE when the queue holds too many jobs, and takes the others', async () => {
      const jobs = Array.from({ length: 4200 }, (_, n) => open.database.write(put(`n${n}`)));
      const settled = await Promise.allSettled(jobs);
      const refused = settled.filter(({ status }) => status === 'rejected');
      expect(refused.length).toBeGreaterThan(0);
      expect(refused.length).toBeLessThanOrEqual(104);
      expect(refused[0]).toMatchObject({ reason: { code: 'UNAVAILABLE', status: 503 } });
      expect(refused[0]).toMatchObject({ reason: { details: { retry_after: 1 } } });
      const row = await open.database.read((tx) => tx.get('SELECT count(*) AS n FROM item'));
      expect(row).toEqual({ n: 4200 - refused.length });
      await open.database.write(put('after'));
    });

    it('refuses with UNAVAILABLE when the queue holds too many bytes, until they are gone', async () => {
      const sizeBytes = 100 * 1024 * 1024;
      const settled = await Promise.allSettled(
        ['a', 'b', 'c'].map((name) => open.database.write(put(name), { sizeBytes })),
      );
      expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
      expect(settled[2]).toMatchObject({ reason: { code: 'UNAVAILABLE' } });
      await open.database.write(put('c'), { sizeBytes });
    });

    it('finishes what is queued when it closes, and takes nothing after', async () => {
      const writes = Array.from({ length: 50 }, (_, n) => open.database.write(put(`n${n}`)));
      const closed = open.database.close();
      await expect(open.database.write(put('late'))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
      await Promise.all([...writes, closed]);
      expect(await countIn(open.newReader())).toBe(50);
    });

    it('has a snapshot that others cannot change, as old as its first statement', async () => {
      await open.database.write(put('a'));
      const seen = await open.database.read(async (tx) => {
        const before = await tx.get('SELECT count(*) AS n FROM item');
        void open.database.write(put('b'));
        await tx.all('SELECT name FROM item');
        return [before, await tx.get('SELECT count(*) AS n FROM item')];
      });
      expect(seen).toEqual([{ n: 1 }, { n: 1 }]);
      await open.database.write(put('c'));
      expect(await names()).toEqual(['a', 'b', 'c']);
    });

    it('has many readers at a time, and each sees what was committed before it began', async () => {
      const readers = [open.newReader(), open.newReader()];
      for (const n of [1, 2, 3]) {
        await open.database.write(put(`n${n}`));
        expect(await Promise.all(readers.map(countIn))).toEqual([n, n]);
      }
      const counts = await Promise.all(
        Array.from({ length: 100 }, (_, n) => countIn(readers[n % 2] as Reader)),
      );
      expect(new Set(counts)).toEqual(new Set([3]));
    });

    it('writes nothing in a snapshot', async () => {
      const statements: ((tx: Tx) => Promise<unknown>)[] = [
        (tx) => tx.run(INSERT, ['a', 1]),
        (tx) => tx.put(INSERT, ['a', 1]),
        (tx) => tx.all(INSERT, ['a', 1]),
      ];
      for (const statement of statements) {
        await expect(open.database.read(statement)).rejects.toThrow(
          /readonly|read-only|query_only/i,
        );
      }
      expect(await names()).toEqual([]);
    });

    it('takes no reads once it is closed', async () => {
      await open.database.close();
      await expect(names()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    });
  });
});
