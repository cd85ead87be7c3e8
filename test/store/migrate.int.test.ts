import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Connection } from '../../shared/store/engine/connection.ts';
import { firstMigrations, migrate, newestSchema } from '../../shared/store/engine/migrate.ts';
import { ProjectWriter } from '../helpers/project-writer.ts';
import { sourceUseIn } from '../helpers/source-use.ts';
import { temporaryFolder } from '../helpers/gateway.ts';
import { withRawDatabase } from '../helpers/database.ts';

let folder: ReturnType<typeof temporaryFolder>;
let path: string;
beforeEach(() => {
  folder = temporaryFolder();
  path = join(folder.path, 'project.db');
});
afterEach(() => folder.remove());

const state = () =>
  withRawDatabase(path, (raw) => ({
    version: raw.get('PRAGMA user_version')?.['user_version'],
    tables: raw.all('SELECT name FROM sqlite_schema ORDER BY name').map((row) => row['name']),
    ...raw.get('PRAGMA integrity_check'),
  }));

describe('a migration', () => {
  it('brings an empty file to the newest schema, and a second time does nothing', () => {
    withRawDatabase(path, (raw) => migrate(raw, 'project'));
    const first = state();
    expect(first.version).toBeGreaterThan(0);
    expect(first.tables).toContain('ledger');
    withRawDatabase(path, (raw) => migrate(raw, 'project'));
    expect(state()).toEqual(first);
  });

  it('that fails leaves everything as it was', () => {
    // A table of that name in the way makes a statement in the middle fail.
    withRawDatabase(path, (raw) => raw.exec('CREATE TABLE ledger (mine TEXT)'));
    expect(() => withRawDatabase(path, (raw) => migrate(raw, 'project'))).toThrow(/ledger/);
    expect(state()).toEqual({ version: 0, tables: ['ledger'], integrity_check: 'ok' });
  });

  it('refuses a database of a newer release and leaves it alone', async () => {
    withRawDatabase(path, (raw) => {
      migrate(raw, 'project');
      raw.exec('PRAGMA user_version=999');
    });
    await expect(
      ProjectWriter.open({ kind: 'file', path }, 'prj_0000000000000000', {
        onFatal: () => undefined,
      }),
    ).rejects.toThrow(/schema 999, newer than/);
    expect(state().version).toBe(999);
  });

  it('gives keys of every account to the owner, so that none outlives them', () => {
    const all = firstMigrations('project', newestSchema('project'));
    const old = all.slice(
      0,
      all.findIndex((text) => text.includes('CREATE TABLE member')),
    );
    const makers = withRawDatabase(path, (raw) => {
      for (const text of old) raw.exec(text);
      raw.exec(`INSERT INTO channel (id, kind, label, status, owner, created_at)
        VALUES ('chn_1', 'email', 'owner', 'active', 1, '2026-01-01T00:00:00.000Z')`);
      for (const [id, maker] of [
        ['key_1', "'acc_1'"],
        ['key_2', "'acc_2'"],
        ['key_3', "'key_1'"],
        ['key_4', 'NULL'],
      ]) {
        raw.exec(`INSERT INTO key (id, name, hash, last4, scopes, created_at, created_by)
          VALUES ('${id}', 'k', '${id}', 'abcd', '[]', '2026-01-01T00:00:00.000Z', ${maker})`);
      }
      raw.exec(`PRAGMA user_version=${old.length}`);
      migrate(raw, 'project');
      return raw.all('SELECT created_by FROM key ORDER BY id').map((row) => row['created_by']);
    });
    expect(makers).toEqual(['mbr_1', 'mbr_1', 'key_1', null]);
  });

  it('counts what sources had stored before, without what was purged', () => {
    const all = firstMigrations('project', newestSchema('project'));
    const old = all.slice(
      0,
      all.findIndex((text) => text.includes('CREATE TABLE source_use')),
    );
    withRawDatabase(path, (raw) => {
      for (const text of old) raw.exec(text);
      for (const [seq, source, kind] of [
        [1, "'src_a'", 'NULL'],
        [2, "'src_a'", "'json'"],
        [3, "'src_b'", "'json'"],
        [4, 'NULL', "'json'"],
      ]) {
        raw.exec(`INSERT INTO event (seq, id, source_id, source, channel, type, received_at, verified, trust, size_bytes, status)
            VALUES (${seq}, 'evt_${seq}', ${source}, 's', 'webhook', 't', '2026-01-01T00:00:00.000Z', 1, 'service', 1000, 'done');
          INSERT INTO event_content (seq, headers, kind) VALUES (${seq}, '{"ä":1}', ${kind})`);
      }
      raw.exec(
        `INSERT INTO event_file VALUES (3, 'a', 'd', 50, 't'); PRAGMA user_version=${old.length}`,
      );
      migrate(raw, 'project');
    });
    const { counted, stored } = sourceUseIn(path);
    expect(counted).toEqual({ src_a: 1000 + 8 + 2048, src_b: 1000 + 8 + 2048 + 50 });
    expect(counted).toEqual(stored);
  });

  it('runs both families', () => {
    const connection = new Connection(':memory:');
    migrate(connection, 'control');
    expect(connection.get('SELECT count(*) AS n FROM project')).toEqual({ n: 0 });
    connection.close();
  });
});
