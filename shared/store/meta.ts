import type { SqlValue, Tx } from './driver.ts';

/** By the statement too, in the form SQLite keeps it: a virtual table is of the type `table`. */
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

  /** How many migrations have made the tables what they are. */
  async schemaVersion(): Promise<number> {
    return Number((await this.#tx.get('PRAGMA user_version'))?.['user_version']);
  }

  /** Goes up whenever tables or indexes change. */
  async schemaCookie(): Promise<number> {
    return Number((await this.#tx.get('PRAGMA schema_version'))?.['schema_version']);
  }

  /** The name of something that is neither a plain table nor an index, of which we have none; null when there is none. */
  async strangeName(): Promise<string | null> {
    const row = await this.#tx.get(STRANGE_SQL);
    return row ? String(row['name']) : null;
  }
}

/** Counts the position up by one: runs once in every group commit. */
export const POSITION_SQL = "UPDATE meta SET value = value + 1 WHERE name = 'commit_seq'";

/** Answers the position, as `value`. */
export const POSITION_QUERY = "SELECT value FROM meta WHERE name = 'commit_seq'";

/** Names the group that was committed last, by a random text: for whoever has lost the answer to COMMIT. */
export const LAST_GROUP_SQL =
  "INSERT INTO meta (name, value) VALUES ('last_group', ?) ON CONFLICT DO UPDATE SET value = excluded.value";

/** Answers that text, as `value`. */
export const LAST_GROUP_QUERY = "SELECT value FROM meta WHERE name = 'last_group'";
