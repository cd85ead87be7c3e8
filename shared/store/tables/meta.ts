import type { SqlValue, Tx } from '../engine/driver.ts';

/** Checks the statement text in SQLite's form too, because a virtual table also has the type `table`. */
const STRANGE_SQL = `SELECT substr(name, 1, 100) AS name FROM sqlite_schema WHERE (
    (type = 'table' AND sql GLOB 'CREATE TABLE *') OR
    (type = 'index' AND (sql IS NULL OR sql GLOB 'CREATE INDEX *' OR sql GLOB 'CREATE UNIQUE INDEX *'))
  ) IS NOT TRUE LIMIT 1`;

/** Named single values of a database. */
export class MetaRepository {
  readonly #tx: Tx;

  constructor(tx: Tx) {
    this.#tx = tx;
  }

  async get(name: string): Promise<SqlValue | undefined> {
    return (await this.#tx.get('SELECT value FROM meta WHERE name = ?', [name]))?.['value'];
  }

  async set(name: string, value: SqlValue): Promise<void> {
    await this.#tx.put(
      'INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value',
      [name, value],
    );
  }

  /** How many migrations the tables have had. */
  async schemaVersion(): Promise<number> {
    return Number((await this.#tx.get('PRAGMA user_version'))?.['user_version']);
  }

  /** Increases whenever tables or indexes change. */
  async schemaCookie(): Promise<number> {
    return Number((await this.#tx.get('PRAGMA schema_version'))?.['schema_version']);
  }

  /**
   * The name of any schema object other than a plain table or an index (we create no others); null if there are none.
   */
  async strangeName(): Promise<string | null> {
    const row = await this.#tx.get(STRANGE_SQL);
    return row ? String(row['name']) : null;
  }
}

/** Increments the position; runs once per group commit. */
export const POSITION_SQL = "UPDATE meta SET value = value + 1 WHERE name = 'commit_seq'";

/** Returns the position as `value`. */
export const POSITION_QUERY = "SELECT value FROM meta WHERE name = 'commit_seq'";

/** Stores a random name for the group being committed, so that a writer that lost the answer to COMMIT can check it. */
export const LAST_GROUP_SQL =
  "INSERT INTO meta (name, value) VALUES ('last_group', ?) ON CONFLICT DO UPDATE SET value = excluded.value";

/** Returns that name as `value`. */
export const LAST_GROUP_QUERY = "SELECT value FROM meta WHERE name = 'last_group'";
