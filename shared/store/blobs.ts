import { unavailable } from '../lib/errors.ts';
import type { Row, Tx } from './driver.ts';

interface BlobRow extends Row {
  digest: string;
  size_bytes: number;
}

/** How many rows name each blob. The bytes are elsewhere; a row here is what keeps them. */
export class BlobRepository {
  readonly #tx: Tx;
  readonly #pinHolder: string | null;

  /** `pinHolder`: who pins blobs before they are named here; null where nobody else could erase them. */
  constructor(tx: Tx, pinHolder: string | null) {
    this.#tx = tx;
    this.#pinHolder = pinHolder;
  }

  /**
   * UNAVAILABLE when no row names the blob and the pin of it is gone: it lapsed, because this process stood still for
   * long, and the bytes may have been erased since.
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

  /** True when this was the last reference: the bytes may go after the commit. */
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

  /** Blobs in the order of their digests, from the first one after `after`. */
  page(after: string, limit: number): Promise<BlobRow[]> {
    return this.#tx.all<BlobRow>(
      'SELECT digest, size_bytes FROM blob WHERE digest > ? ORDER BY digest LIMIT ?',
      [after, limit],
    );
  }
}
