import type { Row, Tx } from '../../engine/driver.ts';

interface BlobPin {
  readonly digest: string;
  /** A random name of the process. */
  readonly holder: string;
  /** Unix time in milliseconds. */
  readonly until: number;
}

interface BlobErasure {
  readonly digest: string;
  /** A random name of the attempt. */
  readonly claim: string;
  /** Unix time in milliseconds. */
  readonly until: number;
}

/**
 * Pins blobs that a row is about to refer to, and claims blobs for erasure. No digest is pinned and claimed at the same
 * time.
 */
export class BlobPinRepository {
  readonly #tx: Tx;

  constructor(tx: Tx) {
    this.#tx = tx;
  }

  /** Pins a digest unless someone is erasing it; returns whether it did. */
  async pin({ digest, holder, until }: BlobPin, now: number): Promise<boolean> {
    await this.#dropLapsedErasure(digest, now);
    const changed = await this.#tx.run(
      `INSERT INTO blob_pin (digest, holder, until)
       SELECT ?, ?, ? WHERE NOT EXISTS (SELECT 1 FROM blob_erasure WHERE digest = ?)
       ON CONFLICT DO UPDATE SET until = excluded.until`,
      [digest, holder, until, digest],
    );
    return changed > 0;
  }

  /** Extends a pin; returns whether the pin still existed. */
  async renew({ digest, holder, until }: BlobPin): Promise<boolean> {
    const changed = await this.#tx.run(
      'UPDATE blob_pin SET until = ? WHERE digest = ? AND holder = ?',
      [until, digest, holder],
    );
    return changed > 0;
  }

  /** Removes this holder's pin; other holders' pins keep the digest. */
  async unpin(digest: string, holder: string): Promise<void> {
    await this.#tx.put('DELETE FROM blob_pin WHERE digest = ? AND holder = ?', [digest, holder]);
  }

  /**
   * Claims a digest for erasure if no row refers to it, nobody has pinned it and nobody else is erasing it; returns
   * whether it did.
   */
  async claim({ digest, claim, until }: BlobErasure, now: number): Promise<boolean> {
    await this.#dropLapsedErasure(digest, now);
    await this.#tx.put('DELETE FROM blob_pin WHERE digest = ? AND until <= ?', [digest, now]);
    const changed = await this.#tx.run(
      `INSERT INTO blob_erasure (digest, claim, until)
       SELECT ?, ?, ? WHERE NOT EXISTS (SELECT 1 FROM blob WHERE digest = ?)
         AND NOT EXISTS (SELECT 1 FROM blob_pin WHERE digest = ?)
       ON CONFLICT DO NOTHING`,
      [digest, claim, until, digest, digest],
    );
    return changed > 0;
  }

  /** Ends an erasure; false if it had lapsed and someone else has removed it. */
  async endErasure(digest: string, claim: string): Promise<boolean> {
    const changed = await this.#tx.run('DELETE FROM blob_erasure WHERE digest = ? AND claim = ?', [
      digest,
      claim,
    ]);
    return changed > 0;
  }

  /** Deletes expired pins and erasures, at most `limit` of each; returns their distinct digests. */
  async deleteLapsed(now: number, limit: number): Promise<{ count: number; digests: string[] }> {
    const lapsed = (table: 'blob_pin' | 'blob_erasure'): Promise<(Row & { digest: string })[]> =>
      this.#tx.all(`SELECT digest FROM ${table} WHERE until <= ? ORDER BY until LIMIT ?`, [
        now,
        limit,
      ]);
    const rows = [...(await lapsed('blob_pin')), ...(await lapsed('blob_erasure'))];
    const digests = [...new Set(rows.map(({ digest }) => digest))];
    for (const digest of digests) {
      await this.#dropLapsedErasure(digest, now);
      await this.#tx.put('DELETE FROM blob_pin WHERE digest = ? AND until <= ?', [digest, now]);
    }
    return { count: rows.length, digests };
  }

  async nextExpiry(): Promise<number | null> {
    const row = await this.#tx.get(
      'SELECT min(until) AS due FROM (SELECT min(until) AS until FROM blob_pin UNION ALL SELECT min(until) FROM blob_erasure)',
    );
    return (row?.['due'] as number | null | undefined) ?? null;
  }

  /** If the process of a lapsed erasure still deletes the bytes later, it does no harm: see `SharedPins`. */
  async #dropLapsedErasure(digest: string, now: number): Promise<void> {
    await this.#tx.put('DELETE FROM blob_erasure WHERE digest = ? AND until <= ?', [digest, now]);
  }
}
