import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Tx, WriteTx } from '../../shared/store/engine/driver.ts';
import { DRIVERS, type OpenStore } from '../helpers/drivers.ts';

let open: OpenStore;

const INSERT = 'INSERT INTO item (name, value) VALUES (?, ?)';
const put = (name: string) => (tx: WriteTx) => tx.run(INSERT, [name, 1]);

async function namesIn(tx: Tx): Promise<unknown[]> {
  const rows = await tx.all('SELECT name FROM item ORDER BY name');
  return rows.map((row) => row['name']);
}

function names(): Promise<unknown[]> {
  return open.database.read(namesIn);
}

const putThenCount = (name: string) => async (tx: WriteTx) => {
  await tx.put(INSERT, [name, 1]);
  return tx.get('SELECT count(*) AS n FROM item');
};

describe.each(DRIVERS)('%s', (_name, openIt) => {
  beforeEach(async () => {
    open = await openIt();
  });
  afterEach(() => open.remove());

  describe('a statement', () => {
    it('brings values back as they were', async () => {
      const values = [
        null,
        5,
        -0.5,
        2 ** 53,
        'text 🐦',
        '',
        Buffer.from([0, 1, 255]),
        Buffer.alloc(0),
      ];
      const rows = await open.database.write(async (tx) => {
        for (const [at, value] of values.entries()) await tx.put(INSERT, [`n${at}`, value]);
        return tx.all('SELECT value FROM item ORDER BY name');
      });
      expect(rows).toEqual(values.map((value) => ({ value })));
      expect(rows.filter(({ value }) => Buffer.isBuffer(value))).toHaveLength(2);
      expect(
        await open.database.read((tx) => tx.all('SELECT value FROM item ORDER BY name')),
      ).toEqual(rows);
    });

    it('takes bigints of 64 bits, and gives integers as numbers', async () => {
      const row = await open.database.write((tx) =>
        tx.get('SELECT ? AS small, typeof(?1) AS kind, CAST(? AS TEXT) AS large, ?2 AS rounded', [
          5n,
          2n ** 62n + 1n,
        ]),
      );
      expect(row).toEqual({
        small: 5,
        kind: 'integer',
        large: String(2n ** 62n + 1n),
        rounded: 2 ** 62,
      });
      const tooLarge = open.database.write((tx) => tx.run(INSERT, ['a', 2n ** 64n]));
      await expect(tooLarge).rejects.toThrow(RangeError);
    });

    it('stores half a character as the sign for what is none', async () => {
      const row = await open.database.write((tx) => tx.get('SELECT ? AS text', ['a\ud800b']));
      expect(row).toEqual({ text: 'a\ufffdb' });
    });

    it.each([
      ['a boolean', true],
      ['an object', {}],
      ['undefined', undefined],
      ['NaN', Number.NaN],
      ['a date', new Date(0)],
      ['text with NUL', 'a\0b'],
    ])('refuses %s, and the transaction goes on', async (_what, value) => {
      const bad = (tx: Tx) => tx.run(INSERT, ['bad', value as never]);
      const settled = await Promise.allSettled([
        open.database.write(put('a')),
        open.database.write(bad),
        open.database.write((tx) => tx.put(INSERT, ['bad', value as never])),
        open.database.write(put('b')),
        open.database.read((tx) => tx.get('SELECT ? AS value', [value as never])),
      ]);
      expect(settled.map(({ status }) => status === 'fulfilled')).toEqual([
        true,
        false,
        false,
        true,
        false,
      ]);
      expect(settled[1]).toMatchObject({
        reason: { message: expect.stringContaining('be bound') },
      });
      expect(await names()).toEqual(['a', 'b']);
    });

    it('may not return what it changed', async () => {
      const returning = open.database.write((tx) => tx.all(`${INSERT} RETURNING name`, ['a', 1]));
      await expect(returning).rejects.toThrow('RETURNING is not supported.');
      expect(await names()).toEqual([]);
    });

    it('tells how many rows it changed', async () => {
      await Promise.all(['a', 'b'].map((name) => open.database.write(put(name))));
      const counts = await open.database.write(async (tx) => [
        await tx.run('UPDATE item SET value = 2'),
        await tx.run("DELETE FROM item WHERE name = 'none'"),
      ]);
      expect(counts).toEqual([2, 0]);
    });

    it('that is put and fails, fails its job alone, whatever came after it', async () => {
      await open.database.write(put('taken'));
      const settled = await Promise.allSettled([
        open.database.write(putThenCount('a')),
        open.database.write((tx) => tx.put(INSERT, ['taken', 1])),
        open.database.write(putThenCount('taken')),
        open.database.write(putThenCount('b')),
      ]);
      expect(settled).toMatchObject([
        { value: { n: 2 } },
        { reason: { code: expect.stringMatching(/^SQLITE_CONSTRAINT/) } },
        { reason: { code: expect.stringMatching(/^SQLITE_CONSTRAINT/) } },
        { value: { n: 3 } },
      ]);
    });

    it('that SQLite does not understand fails its job alone', async () => {
      const settled = await Promise.allSettled([
        open.database.write(put('a')),
        open.database.write((tx) => tx.all('SELECT none FROM nowhere')),
        open.database.write(put('b')),
      ]);
      expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
      expect(await names()).toEqual(['a', 'b']);
      const read = open.database.read((tx) => tx.all('SELECT none FROM nowhere'));
      await expect(read).rejects.toThrow('nowhere');
    });

    it('runs together with those of the same moment', async () => {
      const rows = await open.database.write((tx) =>
        Promise.all([
          tx.put(INSERT, ['a', 1]),
          tx.get('SELECT count(*) AS n FROM item'),
          namesIn(tx),
        ]),
      );
      expect(rows.slice(1)).toEqual([{ n: 1 }, ['a']]);
    });
  });
});
