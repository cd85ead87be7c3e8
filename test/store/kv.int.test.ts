import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SqlValue, Tx } from '../../shared/store/engine/driver.ts';
import { FileRepository } from '../../shared/store/tables/disk/files.ts';
import { KvRepository } from '../../shared/store/tables/disk/kv.ts';
import { ProjectReader } from '../../shared/store/project-store.ts';
import { ProjectWriter } from '../helpers/project-writer.ts';
import { withRawDatabase } from '../helpers/database.ts';
import { temporaryFolder } from '../helpers/gateway.ts';
import { stopTime } from '../helpers/stopped-time.ts';

const PROJECT = 'prj_0000000000000000';
const NOW = 1_000;
const AT = '2026-01-02T03:04:05.000Z';

let folder: ReturnType<typeof temporaryFolder>;
let path: string;
let writer: ProjectWriter;
let reader: ProjectReader;
beforeEach(async () => {
  folder = temporaryFolder();
  path = join(folder.path, 'project.db');
  writer = await ProjectWriter.open({ kind: 'file', path }, PROJECT, {
    onFatal: (error) => {
      throw error;
    },
  });
  reader = await ProjectReader.open({ kind: 'file', path }, PROJECT);
});
afterEach(async () => {
  await reader.close();
  await writer.close();
  folder.remove();
});

const row = (key: string, expires_at: number | null = null, text = '1') => ({
  key,
  size_bytes: text.length,
  version: 1,
  expires_at,
  updated_at: AT,
  note: null,
  value: Buffer.from(text),
});

const fill = (keys: readonly string[], expiresAt: number | null = null): Promise<void> =>
  writer.write(async ({ kv }) => {
    for (const key of keys) await kv.put(row(key, expiresAt));
  });

const unused = (): never => {
  throw new Error('A page is one statement that reads rows.');
};

const file = (name: string) => ({
  path: name,
  digest: 'd',
  size_bytes: 0,
  content_type: 'text/plain',
  version: 1,
  updated_at: AT,
});

const byBytes = (one: string, other: string): number =>
  Buffer.compare(Buffer.from(one), Buffer.from(other));

describe('a page of keys, or of files', () => {
  const unit = fc.constantFrom(
    'a',
    'b',
    '/',
    'é',
    'e\u0301',
    '\ud7ff',
    '\ue000',
    '\uffff',
    '😀',
    '\u{10ffff}',
  );
  const name = fc.string({ unit, minLength: 1, maxLength: 4 });
  const place = fc.record({
    prefix: fc.string({ unit, maxLength: 3 }),
    after: fc.string({ unit, maxLength: 4 }),
    limit: fc.integer({ min: 1, max: 12 }),
  });

  it('is what sorting by bytes gives, from any place on', async () => {
    const names = fc.uniqueArray(name, { maxLength: 40 });
    const property = fc.asyncProperty(
      names,
      fc.array(place, { minLength: 4, maxLength: 8 }),
      async (stored, ranges) => {
        await writer.write(async ({ kv, files }) => {
          await kv.deleteExpired(NOW, 1_000_000);
          for (const key of stored) await kv.put(row(key, NOW + 1));
          for (const one of stored) await files.put(file(one));
        });
        for (const wanted of ranges) {
          const expected = stored
            .filter((one) => one.startsWith(wanted.prefix) && byBytes(one, wanted.after) > 0)
            .toSorted(byBytes)
            .slice(0, wanted.limit);
          const keys = await reader.read(({ kv }) => kv.page(wanted, NOW));
          expect(keys.map(({ key }) => key)).toEqual(expected);
          const paths = await reader.read(({ files }) => files.page(wanted));
          expect(paths.map((one) => one.path)).toEqual(expected);
        }
        await writer.write(async ({ kv, files }) => {
          await kv.deleteExpired(NOW + 1, 1_000_000);
          for (const one of stored) await files.delete(one);
        });
      },
    );
    await fc.assert(property, { numRuns: 60 });
  });

  it('seeks its first row, however many stand before it', async () => {
    const wanted = { prefix: 'a', after: 'ab', limit: 9 };
    const statements: string[] = [];
    const plans = withRawDatabase(path, (connection) => {
      const seen: string[] = [];
      const explain = (sql: string, params: readonly SqlValue[] = []): Promise<never[]> => {
        statements.push(sql);
        const steps = connection.all(`EXPLAIN QUERY PLAN ${sql}`, params);
        seen.push(...steps.map((step) => String(step['detail'])));
        return Promise.resolve([]);
      };
      const tx: Tx = { all: explain, get: unused, run: unused, put: unused };
      void new KvRepository(tx).page(wanted, NOW);
      void new FileRepository(tx).page(wanted);
      return seen;
    });
    expect(plans).toEqual([
      'SEARCH kv USING INDEX sqlite_autoindex_kv_1 (key>? AND key<?)',
      'SEARCH file USING PRIMARY KEY (path>? AND path<?)',
    ]);
    // Two lower bounds would have the same plan, and only one of them would be sought.
    expect(statements.map((sql) => sql.match(/(?:key|path) >/g))).toEqual([['key >'], ['path >']]);
  });
});

describe('the time of a key', () => {
  it('is there until the millisecond before it expires', async () => {
    await writer.write(({ kv }) => kv.put(row('a', 500)));
    const range = { prefix: '', after: '', limit: 9 };
    const seen = (now: number) =>
      reader.read(async ({ kv }) => [
        (await kv.find('a', now))?.key,
        (await kv.page(range, now)).map(({ key }) => key),
      ]);
    expect(await seen(499)).toEqual(['a', ['a']]);
    expect(await seen(500)).toEqual([undefined, []]);
    expect(await reader.read(({ kv }) => kv.stored('a'))).toMatchObject({ expires_at: 500 });
  });

  it('without an end has none, also after it had one', async () => {
    await writer.write(async ({ kv }) => {
      await kv.put(row('a', 500));
      await kv.put(row('a', null));
    });
    expect(await reader.read(({ kv }) => kv.find('a', Number.MAX_SAFE_INTEGER))).toBeDefined();
    expect(await reader.read(({ kv }) => kv.nextExpiry())).toBeNull();
  });

  it('that comes next is the earliest', async () => {
    expect(await reader.read(({ kv }) => kv.nextExpiry())).toBeNull();
    await fill(['never']);
    await fill(['b'], 700);
    await fill(['a'], 600);
    expect(await reader.read(({ kv }) => kv.nextExpiry())).toBe(600);
  });
});

describe('deleting what has expired', () => {
  it('takes the oldest first, so many, never one that is excepted, and tells their sum', async () => {
    await writer.write(async ({ kv }) => {
      await kv.put(row('c', 300, '333'));
      await kv.put(row('a', 100, '1'));
      await kv.put(row('b', 200, '22'));
      await kv.put(row('live', 501));
      await kv.put(row('never', null));
    });
    const remove = (limit: number, except?: string) =>
      writer.write(({ kv }) => kv.deleteExpired(500, limit, except));
    expect(await remove(1, 'a')).toEqual({ keys: 1, bytes: 2 });
    expect(await remove(9, 'a')).toEqual({ keys: 1, bytes: 3 });
    expect(await remove(9, 'a')).toEqual({ keys: 0, bytes: 0 });
    expect(await remove(9)).toEqual({ keys: 1, bytes: 1 });
    const left = await reader.read(({ kv }) => kv.page({ prefix: '', after: '', limit: 9 }, 0));
    expect(left.map(({ key }) => key)).toEqual(['live', 'never']);
  });
});

describe('the version of a write', () => {
  it('grows by one, for keys and files alike, and is given again only when the write was undone', async () => {
    const next = () => writer.write(({ disk }) => disk.nextVersion());
    expect([await next(), await next()]).toEqual([1, 2]);
    const undone = writer.write(async ({ disk }) => {
      await disk.nextVersion();
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    expect(await next()).toBe(3);
  });
});

describe('the sums of the disk', () => {
  it('count for each write of a transaction those before it, without those that were undone', async () => {
    stopTime();
    const seen: number[] = [];
    const add = (bytes: number) =>
      writer.write(async ({ disk }) => {
        await disk.add('keys', 1);
        await disk.add('key_bytes', bytes);
        seen.push((await disk.use()).keyBytes);
        if (bytes === 100) throw new Error('undone');
      });
    const added = await Promise.allSettled([add(1), add(2), add(100), add(4)]);
    expect(added.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
    // The transaction ran up to the one that failed, then each ran again alone.
    expect(seen).toEqual([1, 3, 103, 1, 3, 103, 7]);
    expect(await reader.read(({ disk }) => disk.use())).toEqual({
      keys: 3,
      keyBytes: 7,
      fileBytes: 0,
      uploadBytes: 0,
    });
  });
});

const addTransfer = (month: string, bytes: number) =>
  writer.write(({ disk }) => disk.addTransfer(month, bytes));

const transfers = () =>
  reader.read(({ disk }) =>
    Promise.all(['2026-01', '2026-02', '2026-03'].map((month) => disk.transferred(month))),
  );

describe('the transfer of a month', () => {
  it('adds up, and never falls below nothing', async () => {
    await addTransfer('2026-01', 5);
    await addTransfer('2026-01', 7);
    await addTransfer('2026-02', 1);
    await addTransfer('2026-01', -2);
    expect(await transfers()).toEqual([10, 1, 0]);
    await addTransfer('2026-02', -9);
    expect(await transfers()).toEqual([10, 0, 0]);
    await addTransfer('2026-03', -9);
    await addTransfer('2026-03', 4);
    expect(await transfers()).toEqual([10, 0, 4]);
  });
});
