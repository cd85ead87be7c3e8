import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { entryHash, GENESIS_HASH, type LedgerEntry } from '../../../shared/rules/ledger-chain.ts';
import type { Connection } from '../../../shared/store/engine/connection.ts';
import { firstMigrations } from '../../../shared/store/engine/migrate.ts';
import { withRawDatabase } from '../../helpers/database.ts';

type Family = 'project' | 'control';

/** The schemas of an early release: the first that had values and files. */
const OLD_SCHEMAS: Readonly<Record<Family, number>> = { project: 2, control: 1 };
/** Tables whose content has changed since. */
const NEW_CONTENT = ['request'];
/** Totals by name: a later release's own are left behind. */
const TOTALS = 'disk';

/** Turns a closed data folder's databases into those of an early release, with only what that release knew. */
export function ageData(dataFolder: string, projectId: string): void {
  age(join(dataFolder, 'control.db'), 'control');
  age(join(dataFolder, 'projects', projectId, 'project.db'), 'project', (old) =>
    chainAsThen(old, projectId),
  );
}

/** Its entries named nobody, so their hashes were others. */
function chainAsThen(old: Connection, projectId: string): void {
  let previous = GENESIS_HASH;
  for (const row of old.all('SELECT * FROM ledger ORDER BY seq')) {
    const entry = { ...row, actor: null, prev_hash: previous } as unknown as LedgerEntry;
    const hash = entryHash(projectId, entry);
    old.run('UPDATE ledger SET prev_hash = ?, hash = ? WHERE seq = ?', [previous, hash, entry.seq]);
    previous = hash;
  }
}

function age(path: string, family: Family, change?: (old: Connection) => void): void {
  const aged = `${path}.aged`;
  withRawDatabase(aged, (old) => {
    old.exec('PRAGMA journal_mode=WAL');
    for (const text of firstMigrations(family, OLD_SCHEMAS[family])) old.exec(text);
    withRawDatabase(path, (current) => copyRows(current, old));
    change?.(old);
    old.exec(`PRAGMA user_version=${OLD_SCHEMAS[family]}; PRAGMA wal_checkpoint(TRUNCATE)`);
  });
  for (const end of ['-wal', '-shm', '-sums']) rmSync(path + end, { force: true });
  renameSync(aged, path);
}

/** Of the columns that both have. */
function copyRows(from: Connection, to: Connection): void {
  for (const table of namesIn(to, "SELECT name FROM sqlite_schema WHERE type = 'table'")) {
    if (NEW_CONTENT.includes(table) || table.startsWith('sqlite_')) continue;
    const known = namesIn(from, `SELECT name FROM pragma_table_info('${table}')`);
    const columns = namesIn(to, `SELECT name FROM pragma_table_info('${table}')`).filter((name) =>
      known.includes(name),
    );
    const values = columns.map(() => '?').join(', ');
    const insert = `INSERT OR REPLACE INTO ${table} (${columns.join(', ')}) VALUES (${values})`;
    const names = table === TOTALS ? namesIn(to, `SELECT name FROM ${TOTALS}`) : null;
    for (const row of from.all(`SELECT ${columns.join(', ')} FROM ${table}`)) {
      if (names && !names.includes(String(row['name']))) continue;
      to.run(
        insert,
        columns.map((name) => row[name] ?? null),
      );
    }
  }
}

function namesIn(connection: Connection, sql: string): string[] {
  return connection.all(sql).map(({ name }) => String(name));
}
