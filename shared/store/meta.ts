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
}

/** Counts the position up by one: runs once in every group commit. */
export const POSITION_SQL = "UPDATE meta SET value = value + 1 WHERE name = 'commit_seq'";
