import type { SqlValue, Tx } from './driver.ts';

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
    await this.#tx.run(
      'INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value',
      [name, value],
    );
  }

  /** How many migrations have made the tables what they are. */
  async schemaVersion(): Promise<number> {
    return Number((await this.#tx.get('PRAGMA user_version'))?.['user_version']);
  }
}

/** Counts the position up by one: runs once in every group commit. */
export const POSITION_SQL = "UPDATE meta SET value = value + 1 WHERE name = 'commit_seq'";

/** Answers the position, as `value`. */
export const POSITION_QUERY = "SELECT value FROM meta WHERE name = 'commit_seq'";
