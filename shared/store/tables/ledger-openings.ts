import type { Row, Tx } from '../engine/driver.ts';

/** What opens the digest of a ledger entry. */
export interface OpeningRow extends Row {
  seq: number;
  event_id: string;
  /** Hex. */
  salt: string;
  /** Canonical JSON. */
  value: string;
}

/** Contents of ledger entries that can be proven without the project's key. */
export class LedgerOpeningRepository {
  readonly #tx: Tx;

  constructor(tx: Tx) {
    this.#tx = tx;
  }

  async insert({ seq, event_id, salt, value }: OpeningRow): Promise<void> {
    await this.#tx.put(
      'INSERT INTO ledger_opening (seq, event_id, salt, value) VALUES (?, ?, ?, ?)',
      [seq, event_id, salt, value],
    );
  }

  /** Those of an event, oldest first. */
  ofEvent(eventId: string, limit: number): Promise<OpeningRow[]> {
    return this.#tx.all<OpeningRow>(
      'SELECT seq, event_id, salt, value FROM ledger_opening WHERE event_id = ? ORDER BY seq LIMIT ?',
      [eventId, limit],
    );
  }
}
