import { readdirSync, readFileSync } from 'node:fs';
import { NEWER_SCHEMA } from '../host/start-refused.ts';
import type { Connection } from './connection.ts';

/** Numbered SQL files next to this module (and next to the bundle). A released file never changes. */
function migrationFolder(family: 'project' | 'control'): URL {
  return new URL(`./migrations/${family}/`, import.meta.url);
}

/** The newest schema that this release knows. */
export function newestSchema(family: 'project' | 'control'): number {
  return migrationFiles(family).length;
}

function migrationFiles(family: 'project' | 'control'): string[] {
  return readdirSync(migrationFolder(family))
    .filter((name) => name.endsWith('.sql'))
    .toSorted();
}

/** The database belongs to a newer release. */
export class NewerSchema extends Error {
  readonly code = NEWER_SCHEMA;
}

/**
 * The statements that bring a database from schema `current` to the newest one, one text per file; null if there are
 * none. Throws NewerSchema for a database of a newer release, because its rows may mean things that this release
 * doesn't know.
 */
export function missingMigrations(
  family: 'project' | 'control',
  current: number,
): readonly string[] | null {
  const folder = migrationFolder(family);
  const files = migrationFiles(family);
  if (current > files.length) {
    throw new NewerSchema(
      `This ${family} database has schema ${current}, newer than ${files.length}: update svc before opening it.`,
    );
  }
  if (current === files.length) return null;
  const texts = files.slice(current).map((file) => readFileSync(new URL(file, folder), 'utf8'));
  return [...texts, `PRAGMA user_version=${files.length}`];
}

/** The texts that created a database with schema `current`, in this or an earlier release. */
export function firstMigrations(family: 'project' | 'control', current: number): string[] {
  const files = migrationFiles(family).slice(0, current);
  return files.map((file) => readFileSync(new URL(file, migrationFolder(family)), 'utf8'));
}

/** Brings a database to the newest schema in one transaction, so a crash leaves it unchanged. */
export function migrate(connection: Connection, family: 'project' | 'control'): void {
  const row = connection.get('PRAGMA user_version');
  const missing = missingMigrations(family, Number(row?.['user_version'] ?? 0));
  if (!missing) return;
  connection.exec('BEGIN IMMEDIATE');
  try {
    for (const text of missing) connection.exec(text);
    connection.exec('COMMIT');
  } catch (error) {
    if (connection.inTransaction) connection.exec('ROLLBACK');
    throw error;
  }
}
