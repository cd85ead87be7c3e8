import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Reader, Row } from '../../../shared/store/engine/driver.ts';
import { findImport } from '../../../gateway/store/import-mark.ts';
import type { DatabaseLocation, RemoteLocation } from '../../../shared/store/engine/location.ts';
import { newestSchema } from '../../../shared/store/engine/migrate.ts';
import { openWriter } from '../../../shared/store/engine/open.ts';
import { openClient } from '../../../shared/store/remote/client.ts';
import { openReadOnly } from '../../../gateway/store/read-only.ts';
import { endServerImport, importToServer } from '../../../gateway/store/server-import.ts';
import { temporaryFolder } from '../../helpers/gateway.ts';
import { startHrana, type HranaServer } from '../../helpers/hrana/server.ts';
import { PATIENT } from '../../helpers/shared-store.ts';

const OPTIONS = { onFatal: () => undefined };
const NAME = 'prj-0000000000000000';
/** More than travel together, and each nearly as large as a row may be. */
const MANY = { large: 12, small: 2500 };
const FEW = { large: 1, small: 10 };
/** As text: bytes are compared one by one, which takes long. */
const ROWS = 'SELECT id, key, updated_at, hex(value) AS value FROM kv ORDER BY id';

let root: ReturnType<typeof temporaryFolder>;
let server: HranaServer;
let to: RemoteLocation;
let path: string;
beforeEach(async () => {
  root = temporaryFolder();
  server = await startHrana({ ...PATIENT, folder: join(root.path, 'server') });
  const mirror = join(root.path, 'mirror', 'project.db');
  to = { kind: 'remote', url: server.urlOf(NAME), token: null, mirror };
  path = join(root.path, 'project.db');
  await write(FEW);
});
afterEach(async () => {
  await server.stop();
  root.remove();
});

async function write({ large, small }: typeof MANY): Promise<void> {
  rmSync(path, { force: true });
  const writer = await openWriter({ kind: 'file', path }, 'project', OPTIONS);
  const insert =
    'INSERT INTO kv (key, size_bytes, version, updated_at, value) VALUES (?, 1, 1, ?, ?)';
  for (let n = 0; n < large; n += 1) {
    await writer.write((tx) => tx.run(insert, [`large-${n}`, 'now', Buffer.alloc(250_000, n)]));
  }
  await writer.write(async (tx) => {
    for (let n = 0; n < small; n += 1)
      await tx.put(insert, [`small-${n}`, '🙂', Buffer.of(n % 256)]);
    await tx.run("INSERT INTO meta (name, value) VALUES ('purged_seq', 3)");
    await tx.run("INSERT INTO blob_pin (digest, holder, until) VALUES ('d', 'h', 1)");
    await tx.run("INSERT INTO transfer (month, bytes) VALUES ('2026-01', 9007199254740991)");
  });
  await writer.close();
}

const sound = async (): Promise<void> => undefined;

function bring(wanted: Partial<Parameters<typeof importToServer>[2]> = {}): Promise<void> {
  return importToServer(path, to, { origin: 'one', check: sound, ...wanted });
}

async function withReader<T>(location: DatabaseLocation, work: (reader: Reader) => Promise<T>) {
  const reader = await openReadOnly(location);
  try {
    return await work(reader);
  } finally {
    await reader.close();
  }
}

const found = () => withReader(to, findImport);

const rowsAt = (location: DatabaseLocation, sql: string): Promise<Row[]> =>
  withReader(location, (reader) => reader.read((tx) => tx.all(sql)));

async function expectSame(sql: string): Promise<void> {
  expect(await rowsAt(to, sql)).toEqual(await rowsAt({ kind: 'file', path }, sql));
}

async function run(sql: string): Promise<void> {
  const client = openClient(to);
  await client.executeMultiple(sql);
  client.close();
}

describe('a project that is brought into a database on a server', () => {
  it('is the same there, in many transactions, but for what each database says of itself', async () => {
    await write(MANY);
    const told: number[] = [];
    await bring({ onProgress: (done, total) => told.push(done / total) });
    await expectSame(ROWS);
    await expectSame(
      "SELECT name, typeof(value), value FROM meta WHERE name NOT IN ('import', 'last_group') ORDER BY name",
    );
    await expectSame('SELECT month, typeof(bytes), bytes FROM transfer');
    expect(await rowsAt(to, 'SELECT * FROM blob_pin')).toEqual([]);
    expect([told[0], told.at(-1)]).toEqual([0, 1]);
    // Three of the large ones at least, and three of the small ones.
    expect(server.counters(NAME).transactions).toBeGreaterThan(6);
    expect(told).toEqual(told.toSorted((one, other) => one - other));
    expect(await found()).toEqual({ kind: 'whole', origin: 'one' });
    await endServerImport(to);
    expect(await found()).toEqual({ kind: 'used' });
    expect(await rowsAt(to, "SELECT 1 FROM meta WHERE name = 'import'")).toEqual([]);
  });

  it('replaces what an import left that was cut short', async () => {
    const closing = new AbortController();
    const cut = bring({
      signal: closing.signal,
      onProgress: (done) => {
        if (done > 0) closing.abort();
      },
    });
    await expect(cut).rejects.toMatchObject({ name: 'AbortError' });
    expect(await found()).toEqual({ kind: 'part' });
    expect(await rowsAt(to, 'SELECT key FROM kv')).toEqual([]);
    // As one leaves it that was killed.
    await run(
      "INSERT INTO kv (key, size_bytes, version, updated_at, value) VALUES ('x', 1, 1, '', x'00')",
    );
    await bring();
    await expectSame(ROWS);
  });

  it('is not there when what is read back is not what it should be, and a repeat works', async () => {
    const broken = new Error('broken');
    await expect(bring({ check: () => Promise.reject(broken) })).rejects.toBe(broken);
    expect(await found()).toEqual({ kind: 'part' });
    await bring();
    expect(await found()).toEqual({ kind: 'whole', origin: 'one' });
  });

  it('goes on where all of it was there, and is not replaced by another', async () => {
    await bring();
    const told: number[] = [];
    await bring({ onProgress: (done) => told.push(done) });
    expect(told).toEqual([]);
    await expect(bring({ origin: 'two' })).rejects.toThrow('holds another export');
    expect(await found()).toEqual({ kind: 'whole', origin: 'one' });
  });

  it.each([
    ['of somebody else', 'CREATE TABLE mine (value TEXT)'],
    [
      'of a project',
      `CREATE TABLE meta (name TEXT, value ANY); INSERT INTO meta VALUES ('commit_seq', 4); PRAGMA user_version=${newestSchema('project')}`,
    ],
  ])('leaves a database alone that is %s', async (_, sql) => {
    await run(sql);
    const before = await rowsAt(to, 'SELECT sql FROM sqlite_schema');
    await expect(bring()).rejects.toThrow('It is not empty, and no import has left it.');
    expect(await rowsAt(to, 'SELECT sql FROM sqlite_schema')).toEqual(before);
  });

  it('is brought by the last one who began, when two do at a time', async () => {
    let second: Promise<void> | null = null;
    const first = bring({
      check: async () => {
        second ??= bring({ origin: 'two' });
        await second;
      },
    });
    await expect(first).rejects.toThrow('Another import of this project has begun since.');
    expect(await found()).toEqual({ kind: 'whole', origin: 'two' });
    await expectSame(ROWS);
  });
});
