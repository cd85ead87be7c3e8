import { readdirSync, readFileSync } from 'node:fs';
import { NEWER_SCHEMA } from '../../host/start-refusal.ts';
import { Connection } from './connection.ts';
import { quoted } from '../copy/table-portions.ts';

type Family = 'project' | 'control';

/** Numbered SQL files in the store's folder, and next to the bundle. A released file never changes. */
function migrationFolder(family: Family): URL {
  const beside = import.meta.url.endsWith('.ts') ? '..' : '.';
  return new URL(`${beside}/migrations/${family}/`, import.meta.url);
}

/** The newest schema that this release knows. */
export function newestSchema(family: Family): number {
  return migrationFiles(family).length;
}

function migrationFiles(family: Family): string[] {
  return readdirSync(migrationFolder(family))
    .filter((name) => name.endsWith('.sql'))
    .toSorted();
}

/** The database belongs to a newer release. */
export class NewerSchema extends Error {
  readonly code = NEWER_SCHEMA;
}

/** The statements that create the newest schema, for each family of which this process has created a database. */
const wholeSchemas = new Map<Family, string>();

/** Running every migration takes eight times as long as creating the tables as they end up. */
function wholeSchema(family: Family): string {
  const known = wholeSchemas.get(family);
  if (known !== undefined) return known;
  const connection = new Connection(':memory:');
  try {
    for (const text of firstMigrations(family, newestSchema(family))) connection.exec(text);
    const whole = statementsOf(connection);
    wholeSchemas.set(family, whole);
    return whole;
  } finally {
    connection.close();
  }
}

/** The tables, indexes and rows of a database as statements. */
function statementsOf(connection: Connection): string {
  const parts = connection.all(
    'SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid',
  );
  const rows = parts
    .filter(({ type }) => type === 'table')
    .flatMap(({ name }) => {
      const table = quoted(String(name));
      const columns = connection.all('SELECT name FROM pragma_table_info(?)', [name ?? null]);
      const values = columns.map((column) => `quote(${quoted(String(column['name']))})`);
      return connection
        .all(`SELECT ${values.join(" || ',' || ")} AS "values" FROM ${table}`)
        .map((row) => `INSERT INTO ${table} VALUES (${String(row['values'])})`);
    });
  return [...parts.map(({ sql }) => String(sql)), ...rows].join(';\n');
}

/**
 * The statements that bring a database from schema `current` to the newest one; null if there are none. Throws
 * NewerSchema for a database of a newer release, because its rows may mean things that this release doesn't know.
 */
export function missingMigrations(family: Family, current: number): readonly string[] | null {
  const folder = migrationFolder(family);
  const files = migrationFiles(family);
  if (current > files.length) {
    throw new NewerSchema(
      `This ${family} database has schema ${current}, newer than ${files.length}: update svc before opening it.`,
    );
  }
  if (current === files.length) return null;
  const version = `PRAGMA user_version=${files.length}`;
  if (current === 0) return [wholeSchema(family), version];
  const texts = files.slice(current).map((file) => readFileSync(new URL(file, folder), 'utf8'));
  return [...texts, version];
}

/** The texts that created a database with schema `current`, in this or an earlier release. */
export function firstMigrations(family: Family, current: number): string[] {
  const files = migrationFiles(family).slice(0, current);
  return files.map((file) => readFileSync(new URL(file, migrationFolder(family)), 'utf8'));
}

/** Brings a database to the newest schema in one transaction, so a crash leaves it unchanged. */
export function migrate(connection: Connection, family: Family): void {
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
