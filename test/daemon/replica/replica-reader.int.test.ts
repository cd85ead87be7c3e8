import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ReplicaReader } from '../../../daemon/replica/serve/replica-reader.ts';
import { Connection } from '../../../shared/store/engine/connection.ts';
import { temporaryFolder } from '../../helpers/gateway.ts';

let folder: ReturnType<typeof temporaryFolder>;
let writer: Connection;
let reader: ReplicaReader;
let damage: Error[];

beforeEach(() => {
  folder = temporaryFolder();
  const path = join(folder.path, 'copy.db');
  writer = new Connection(path);
  writer.exec(
    `PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0; CREATE TABLE meta (name TEXT, value ANY);
     INSERT INTO meta VALUES ('commit_seq', 7); PRAGMA user_version=3`,
  );
  damage = [];
  reader = new ReplicaReader(path, 3, (error) => damage.push(error));
});

afterEach(async () => {
  await reader.close();
  writer.close();
  folder.remove();
});

const value = (): Promise<unknown> =>
  reader.read(
    async (tx) => (await tx.get("SELECT value FROM meta WHERE name = 'commit_seq'"))?.['value'],
  );

describe('a reader of a copy', () => {
  it('sees what is written, and how far it is', async () => {
    expect(await value()).toBe(7);
    writer.exec('UPDATE meta SET value = 8');
    expect(await value()).toBe(8);
    expect(await reader.position()).toEqual({ position: 8, schemaVersion: 3 });
  });

  it('stops when the tables become others, which may be at any time', async () => {
    expect(await value()).toBe(7);
    writer.exec('CREATE TABLE newer (x); PRAGMA user_version=4');
    await expect(value()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(await reader.position()).toEqual({ position: 7, schemaVersion: 4 });
    expect(damage).toEqual([]);
  });

  it.each([
    ['a view', 'CREATE VIEW other AS SELECT 1'],
    ['a view in the place of a table', 'DROP TABLE meta; CREATE VIEW meta AS SELECT 1 AS value'],
    ['a trigger', 'CREATE TRIGGER other AFTER INSERT ON meta BEGIN SELECT 1; END'],
    ['a virtual table', 'CREATE VIRTUAL TABLE other USING fts5(x)'],
  ])('takes %s for damage', async (_, sql) => {
    expect(await value()).toBe(7);
    writer.exec(sql);
    await expect(value()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await expect(reader.position()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(damage.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^It has "(other|meta)", which isn't a plain table or index\.$/),
      expect.stringMatching(/^It has "(other|meta)", which isn't a plain table or index\.$/),
    ]);
  });

  it('takes tables and indexes as they come', async () => {
    writer.exec(
      'CREATE TABLE t (x INTEGER PRIMARY KEY AUTOINCREMENT, y UNIQUE); CREATE UNIQUE INDEX i ON t (x, y); ANALYZE',
    );
    expect(await value()).toBe(7);
    expect(damage).toEqual([]);
  });

  it('trusts no schema', async () => {
    const trusted = reader.read((tx) => tx.get('PRAGMA trusted_schema'));
    expect(await trusted).toEqual({ trusted_schema: 0 });
  });

  it('writes nothing', async () => {
    const write = reader.read((tx) => tx.run('UPDATE meta SET value = 9'));
    await expect(write).rejects.toThrow('readonly');
    expect(await value()).toBe(7);
  });
});
