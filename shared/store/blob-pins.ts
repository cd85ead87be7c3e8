import type { Row, Tx } from './driver.ts';

interface BlobPin {
  readonly digest: string;
  /** The process, by a random name. */
  readonly holder: string;
  /** Milliseconds. */
  readonly until: number;
}

interface BlobErasure {
  readonly digest: string;
  /** The attempt, by a random name. */
  readonly claim: string;
  /** Milliseconds. */
  readonly until: number;
}

/** Who is about to name a blob, and who erases one: of a digest never both at a time. */
export class BlobPinRepository {
  readonly #tx: Tx;

  constructor(tx: Tx) {
    this.#tx = tx;
  }

  /** Pins a digest, unless it is being erased; whether it did. */
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

  /** Whether there was such a pin. */
  async renew({ digest, holder, until }: BlobPin): Promise<boolean> {
    const changed = await this.#tx.run(
      'UPDATE blob_pin SET until = ? WHERE digest = ? AND holder = ?',
      [until, digest, holder],
    );
    return changed > 0;
  }

  /** Lets go of a digest, which a pin of somebody else still keeps. */
  async unpin(digest: string, holder: string): Promise<void> {
    await this.#tx.put('DELETE FROM blob_pin WHERE digest = ? AND holder = ?', [digest, holder]);
  }

  /** Begins the erasure of a digest that no row names, nobody has pinned and nobody erases; whether it did. */
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

  /** Ends an erasure; false when it had lapsed and somebody has seen that. */
  async endErasure(digest: string, claim: string): Promise<boolean> {
    const changed = await this.#tx.run('DELETE FROM blob_erasure WHERE digest = ? AND claim = ?', [
      digest,
      claim,
    ]);
    return changed > 0;
  }

  /** Deletes pins and erasures past their time, at most `limit` of each; returns their digests, each once. */
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

  /** What its process does late takes nothing away that counts: see `SharedPins`. */
  async #dropLapsedErasure(digest: string, now: number): Promise<void> {
    await this.#tx.put('DELETE FROM blob_erasure WHERE digest = ? AND until <= ?', [digest, now]);
  }
}
