import { Connection, readOnlyAddress } from '../../shared/store/engine/connection.ts';
import { firstMigrations } from '../../shared/store/engine/migrate.ts';

/**
 * Lists tables, indexes and columns. Entries that store no rows (views, triggers, virtual tables) have no root page.
 */
const PARTS = `SELECT type, name, tbl_name, coalesce(rootpage, 0) > 0 AS stored, '' AS columns FROM sqlite_schema
   WHERE type <> 'table'
   UNION ALL
   SELECT type, name, tbl_name, coalesce(rootpage, 0) > 0,
     (SELECT group_concat(quote(x.name) || ' ' || x.type || ' ' || x.hidden, ', ') FROM pragma_table_xinfo(t.name) AS x)
   FROM sqlite_schema AS t WHERE type = 'table'`;
/** SQLite's statistics tables for its planner. */
const COUNTED = /^table sqlite_stat[14] sqlite_stat[14] 1 /;

/**
 * Returns the first entry of a project's schema that the migrations of its version didn't create, or that is missing;
 * null if all match. An attacker's trigger, for example, would run with every write.
 */
export function strangePart(path: string): string | null {
  const connection = new Connection(readOnlyAddress(path));
  try {
    const schema = Number(connection.get('PRAGMA user_version')?.['user_version']);
    const [found, own] = [partsOf(connection), ownParts(schema)];
    const strange = [...found].find(([line]) => !own.has(line) && !COUNTED.test(line));
    const missing = [...own].find(([line]) => !found.has(line));
    return (strange ?? missing)?.[1] ?? null;
  } finally {
    connection.close();
  }
}

function ownParts(schema: number): Map<string, string> {
  const connection = new Connection(':memory:');
  try {
    for (const text of firstMigrations('project', schema)) connection.exec(text);
    return partsOf(connection);
  } finally {
    connection.close();
  }
}

/** Maps everything that is compared about an entry to its short name. */
function partsOf(connection: Connection): Map<string, string> {
  const parts = new Map<string, string>();
  for (const { type, name, tbl_name, stored, columns } of connection.all(PARTS)) {
    const called = `${String(type)} ${String(name)}`;
    parts.set(`${called} ${String(tbl_name)} ${String(stored)} ${String(columns)}`, called);
  }
  return parts;
}
