import type { Row, Tx } from './driver.ts';

interface BlobRow extends Row {
  digest: string;
  size_bytes: number;
}

/** How many rows name each blob. The bytes are elsewhere; a row here is what keeps them. */
export class BlobRepository {
  readonly #tx: Tx;

  constructor(tx: Tx) {
    this.#tx = tx;
  }

  async addReference(digest: string, sizeBytes: number): Promise<void> {
    await this.#tx.run(
      'INSERT INTO blob (digest, size_bytes, refs) VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET refs = refs + 1',
      [digest, sizeBytes],
    );
  }

  /** True when this was the last reference: the bytes may go after the commit. */
  async dropReference(digest: string): Promise<boolean> {
    await this.#tx.run('UPDATE blob SET refs = refs - 1 WHERE digest = ?', [digest]);
    return (await this.#tx.run('DELETE FROM blob WHERE digest = ? AND refs <= 0', [digest])) > 0;
  }

  async isReferenced(digest: string): Promise<boolean> {
    return (
      (await this.#tx.get('SELECT 1 AS one FROM blob WHERE digest = ?', [digest])) !== undefined
    );
  }

  /** Blobs in the order of their digests, from the first one after `after`. */
  page(after: string, limit: number): Promise<BlobRow[]> {
    return this.#tx.all<BlobRow>(
      'SELECT digest, size_bytes FROM blob WHERE digest > ? ORDER BY digest LIMIT ?',
      [after, limit],
    );
  }
}
