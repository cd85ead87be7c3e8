import type { Row, Tx } from '../../engine/driver.ts';

/** An open upload to a path that becomes a file when it completes. */
export interface UploadRow extends Row {
  id: string;
  path: string;
  /** The declared size. */
  size_bytes: number;
  content_type: string;
  /** The blob with the bytes, once they have arrived; this row counts as a reference to it. */
  digest: string | null;
  /** Unix time in milliseconds. */
  expires_at: number;
  /** The key that opened it; null in rows of earlier releases. */
  key_id: string | null;
}

const COLUMNS = 'id, path, size_bytes, content_type, digest, expires_at, key_id';

export class UploadRepository {
  readonly #tx: Tx;

  constructor(tx: Tx) {
    this.#tx = tx;
  }

  find(id: string): Promise<UploadRow | undefined> {
    return this.#tx.get<UploadRow>(`SELECT ${COLUMNS} FROM upload WHERE id = ?`, [id]);
  }

  /** Finds an upload by the SHA-256 of the token in its URL. */
  findByTokenHash(tokenHash: string): Promise<UploadRow | undefined> {
    return this.#tx.get<UploadRow>(`SELECT ${COLUMNS} FROM upload WHERE token_hash = ?`, [
      tokenHash,
    ]);
  }

  atPath(path: string): Promise<UploadRow[]> {
    return this.#tx.all<UploadRow>(`SELECT ${COLUMNS} FROM upload WHERE path = ?`, [path]);
  }

  async insert(row: UploadRow, tokenHash: string): Promise<void> {
    await this.#tx.put(
      `INSERT INTO upload (${COLUMNS}, token_hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      [
        row.id,
        row.path,
        row.size_bytes,
        row.content_type,
        row.digest,
        row.expires_at,
        row.key_id,
        tokenHash,
      ],
    );
  }

  async setDigest(id: string, digest: string): Promise<void> {
    await this.#tx.put('UPDATE upload SET digest = ? WHERE id = ?', [digest, id]);
  }

  async delete(id: string): Promise<void> {
    await this.#tx.put('DELETE FROM upload WHERE id = ?', [id]);
  }

  expired(now: number, limit: number): Promise<UploadRow[]> {
    return this.#tx.all<UploadRow>(
      `SELECT ${COLUMNS} FROM upload WHERE expires_at <= ? ORDER BY expires_at LIMIT ?`,
      [now, limit],
    );
  }

  async nextExpiry(): Promise<number | null> {
    const row = await this.#tx.get('SELECT min(expires_at) AS due FROM upload');
    return (row?.['due'] as number | null | undefined) ?? null;
  }
}
