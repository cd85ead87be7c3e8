import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Connection } from '../../shared/store/connection.ts';
import { migrate } from '../../shared/store/migrate.ts';
import { ProjectWriter } from '../helpers/project-writer.ts';
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

  it('runs both families', () => {
    const connection = new Connection(':memory:');
    migrate(connection, 'control');
    expect(connection.get('SELECT count(*) AS n FROM project')).toEqual({ n: 0 });
    connection.close();
  });
});
