import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { migrate } from '../../shared/store/engine/migrate.ts';
import { withRawDatabase } from '../helpers/database.ts';
import { temporaryFolder } from '../helpers/gateway.ts';

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
  it('that the process dies in leaves everything as it was, and goes through the next time', () => {
    // The process ends in the middle of the statements, with the transaction open.
    const script = `
      const { Connection } = await import('./shared/store/engine/connection.ts');
      const { migrate } = await import('./shared/store/engine/migrate.ts');
      const connection = new Connection(process.argv[1]);
      connection.get('PRAGMA journal_mode=WAL');
      let statements = 0;
      const dying = {
        get: (sql) => connection.get(sql),
        exec: (sql) => {
          connection.exec(sql);
          statements += 1;
          if (statements === Number(process.argv[2])) process.kill(process.pid, 'SIGKILL');
        },
        get inTransaction() { return connection.inTransaction; },
      };
      migrate(dying, 'project');
    `;
    for (const statement of ['2', '3']) {
      const run = spawnSync(
        process.execPath,
        ['--import', 'tsx', '--input-type=module', '-e', script, path, statement],
        { encoding: 'utf8' },
      );
      expect(run).toMatchObject({ signal: 'SIGKILL', stderr: '' });
      expect(state()).toEqual({ version: 0, tables: [], integrity_check: 'ok' });
    }
    withRawDatabase(path, (raw) => migrate(raw, 'project'));
    expect(state().tables).toContain('event');
  });
});
