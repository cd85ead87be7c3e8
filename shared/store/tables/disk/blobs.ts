import { unavailable } from '../../../lib/errors.ts';
import type { Row, Tx } from '../../engine/driver.ts';

interface BlobRow extends Row {
  digest: string;
  size_bytes: number;
}

/**
 * Counts the rows that refer to each blob. The bytes are stored elsewhere, and they stay as long as the row here
 * exists.
 */
export class BlobRepository {
  readonly #tx: Tx;
  readonly #pinHolder: string | null;

  /**
   * `pinHolder`: the name under which this process pins blobs before a row refers to them; null if nobody else can
   * erase them.
   */
  constructor(tx: Tx, pinHolder: string | null) {
    this.#tx = tx;
    this.#pinHolder = pinHolder;
  }

  /**
   * UNAVAILABLE if no row refers to the blob and its pin has lapsed, because this process stood still for long: someone
   * may have erased the bytes since.
   */
  async addReference(digest: string, sizeBytes: number): Promise<void> {
    if (this.#pinHolder !== null) return this.#addPinned(digest, sizeBytes, this.#pinHolder);
    await this.#tx.put(
      'INSERT INTO blob (digest, size_bytes, refs) VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET refs = refs + 1',
      [digest, sizeBytes],
    );
  }

  async #addPinned(digest: string, sizeBytes: number, holder: string): Promise<void> {
    const changed = await this.#tx.run(
      `INSERT INTO blob (digest, size_bytes, refs)
       SELECT ?, ?, 1 WHERE EXISTS (SELECT 1 FROM blob WHERE digest = ?)
         OR EXISTS (SELECT 1 FROM blob_pin WHERE digest = ? AND holder = ?)
       ON CONFLICT DO UPDATE SET refs = refs + 1`,
      [digest, sizeBytes, digest, digest, holder],
    );
    if (changed === 0) throw unavailable(1, new Error(`The pin of blob ${digest} has lapsed.`));
  }

  /** True if this was the last reference: the bytes may be deleted after the commit. */
  async dropReference(digest: string): Promise<boolean> {
    await this.#tx.put('UPDATE blob SET refs = refs - 1 WHERE digest = ?', [digest]);
    return (await this.#tx.run('DELETE FROM blob WHERE digest = ? AND refs <= 0', [digest])) > 0;
  }

  async isReferenced(digest: string): Promise<boolean> {
    return (
      (await this.#tx.get('SELECT 1 AS one FROM blob WHERE digest = ?', [digest])) !== undefined
    );
  }

  async count(): Promise<number> {
    return Number((await this.#tx.get('SELECT count(*) AS count FROM blob'))?.['count']);
  }

  async totalBytes(): Promise<number> {
    const row = await this.#tx.get('SELECT coalesce(sum(size_bytes), 0) AS bytes FROM blob');
    return Number(row?.['bytes']);
  }

  /** Blobs in digest order, starting after `after`. */
  page(after: string, limit: number): Promise<BlobRow[]> {
    return this.#tx.all<BlobRow>(
      'SELECT digest, size_bytes FROM blob WHERE digest > ? ORDER BY digest LIMIT ?',
      [after, limit],
    );
  }
}
