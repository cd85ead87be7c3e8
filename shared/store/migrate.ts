import { readdirSync, readFileSync } from 'node:fs';
import type { Connection } from './connection.ts';

/** Numbered SQL files beside this module (and beside the bundle); a file never changes once released. */
function migrationFolder(family: 'project' | 'control'): URL {
  return new URL(`./migrations/${family}/`, import.meta.url);
}

/** The schema this release knows. */
export function newestSchema(family: 'project' | 'control'): number {
  return migrationFiles(family).length;
}

function migrationFiles(family: 'project' | 'control'): string[] {
  return readdirSync(migrationFolder(family))
    .filter((name) => name.endsWith('.sql'))
    .toSorted();
}

/**
 * Brings a database to the newest schema in one transaction: a crash inside leaves it as it was. A database of a newer
 * release is refused, because its rows may mean something this release does not know.
 */
export function migrate(connection: Connection, family: 'project' | 'control'): void {
  const folder = migrationFolder(family);
  const files = migrationFiles(family);
  const row = connection.get('PRAGMA user_version');
  const current = Number(row?.['user_version'] ?? 0);
  if (current > files.length) {
    throw new Error(
      `This ${family} database has schema ${current}, newer than ${files.length}: update svc before opening it.`,
    );
  }
  if (current === files.length) return;
  connection.exec('BEGIN IMMEDIATE');
  try {
    for (const file of files.slice(current)) {
      connection.exec(readFileSync(new URL(file, folder), 'utf8'));
    }
    connection.exec(`PRAGMA user_version=${files.length}`);
    connection.exec('COMMIT');
  } catch (error) {
    if (connection.inTransaction) connection.exec('ROLLBACK');
    throw error;
  }
}
