import type { Row, Tx } from '../../engine/driver.ts';

/** The secrets that sign request callbacks; both are sealed. */
export interface CallbackSecretRow extends Row {
  secret: Uint8Array;
  created_at: string;
  /** The previous secret, which also signs until `previous_valid_until`. */
  previous: Uint8Array | null;
  previous_valid_until: number | null;
  /** Who made it; null in rows of earlier releases. */
  created_by: string | null;
}

/** The one secret of a project that signs its request callbacks. */
export class CallbackSecretRepository {
  readonly #tx: Tx;

  constructor(tx: Tx) {
    this.#tx = tx;
  }

  get(): Promise<CallbackSecretRow | undefined> {
    return this.#tx.get<CallbackSecretRow>(
      'SELECT secret, created_at, previous, previous_valid_until, created_by FROM callback_secret WHERE id = 1',
    );
  }

  async set(row: CallbackSecretRow): Promise<void> {
    await this.#tx.put(
      'INSERT OR REPLACE INTO callback_secret (id, secret, created_at, previous, previous_valid_until, created_by) VALUES (1, ?, ?, ?, ?, ?)',
      [row.secret, row.created_at, row.previous, row.previous_valid_until, row.created_by],
    );
  }
}
