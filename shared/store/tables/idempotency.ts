import type { Tx } from '../engine/driver.ts';

interface StoredAnswer {
  readonly op: string;
  readonly inputDigest: string;
  /** Sealed. */
  readonly committed: Uint8Array;
}

/**
 * The committed answers of writes with an Idempotency-Key, kept for 24 hours so that repeated calls have only one
 * effect.
 */
export class IdempotencyRepository {
  readonly #tx: Tx;

  constructor(tx: Tx) {
    this.#tx = tx;
  }

  async find(keyId: string, idempotencyKey: string, now: number): Promise<StoredAnswer | null> {
    const row = await this.#tx.get(
      'SELECT op, input_digest, committed FROM idempotency WHERE key_id = ? AND idempotency_key = ? AND expires_at > ?',
      [keyId, idempotencyKey, now],
    );
    if (!row) return null;
    return {
      op: String(row['op']),
      inputDigest: String(row['input_digest']),
      committed: row['committed'] as Uint8Array,
    };
  }

  async insert(
    keyId: string,
    idempotencyKey: string,
    answer: StoredAnswer,
    expiresAt: number,
  ): Promise<void> {
    await this.#tx.put(
      'INSERT OR REPLACE INTO idempotency (key_id, idempotency_key, op, input_digest, committed, expires_at) VALUES (?, ?, ?, ?, ?, ?)',
      [keyId, idempotencyKey, answer.op, answer.inputDigest, answer.committed, expiresAt],
    );
  }

  /** The earliest expiry, which may be in the past; null if there are no rows. */
  async nextExpiry(): Promise<number | null> {
    const row = await this.#tx.get('SELECT min(expires_at) AS due FROM idempotency');
    return (row?.['due'] as number | null | undefined) ?? null;
  }

  /** Deletes up to `limit` expired rows; returns how many. */
  deleteExpired(now: number, limit: number): Promise<number> {
    return this.#tx.run(
      'DELETE FROM idempotency WHERE (key_id, idempotency_key) IN (SELECT key_id, idempotency_key FROM idempotency WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)',
      [now, limit],
    );
  }
}
