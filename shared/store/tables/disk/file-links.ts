import type { Row, Tx } from '../../engine/driver.ts';

/** A public download link to one version of a file. */
export interface FileLinkRow extends Row {
  id: string;
  path: string;
  version: number;
  /** The key that created the link; revoking the key ends the link. */
  key_id: string;
  /** The request that allowed the link, if any. */
  request_id: string | null;
  /** Unix time in milliseconds. */
  expires_at: number;
}

const COLUMNS = 'id, path, version, key_id, request_id, expires_at';

export class FileLinkRepository {
  readonly #tx: Tx;

  constructor(tx: Tx) {
    this.#tx = tx;
  }

  /** Finds a link by the SHA-256 of the token in its URL. */
  findByTokenHash(tokenHash: string): Promise<FileLinkRow | undefined> {
    return this.#tx.get<FileLinkRow>(`SELECT ${COLUMNS} FROM file_link WHERE token_hash = ?`, [
      tokenHash,
    ]);
  }

  /** The links to a path, the first to end first. */
  ofPath(path: string, limit: number): Promise<FileLinkRow[]> {
    return this.#tx.all<FileLinkRow>(
      `SELECT ${COLUMNS} FROM file_link WHERE path = ? ORDER BY expires_at, id LIMIT ?`,
      [path, limit],
    );
  }

  /** Links that end after a time, the first to end first. */
  page(after: { readonly expiresAt: number; readonly id: string }, limit: number) {
    return this.#tx.all<FileLinkRow>(
      `SELECT ${COLUMNS} FROM file_link WHERE expires_at >= ? AND (expires_at, id) > (?, ?)
       ORDER BY expires_at, id LIMIT ?`,
      [after.expiresAt, after.expiresAt, after.id, limit],
    );
  }

  find(id: string): Promise<FileLinkRow | undefined> {
    return this.#tx.get<FileLinkRow>(`SELECT ${COLUMNS} FROM file_link WHERE id = ?`, [id]);
  }

  async revoke(id: string): Promise<void> {
    await this.#tx.put('DELETE FROM file_link WHERE id = ?', [id]);
  }

  async insert(row: FileLinkRow, tokenHash: string): Promise<void> {
    await this.#tx.put(
      `INSERT INTO file_link (${COLUMNS}, token_hash) VALUES (?, ?, ?, ?, ?, ?, ?)`,
      [row.id, row.path, row.version, row.key_id, row.request_id, row.expires_at, tokenHash],
    );
  }

  /** Ends every link to a path, after its file was replaced or deleted. */
  async revokePath(path: string): Promise<void> {
    await this.#tx.put('DELETE FROM file_link WHERE path = ?', [path]);
  }

  async revokeKey(keyId: string): Promise<void> {
    await this.#tx.put('DELETE FROM file_link WHERE key_id = ?', [keyId]);
  }

  async deleteExpired(now: number, limit: number): Promise<number> {
    return this.#tx.run(
      'DELETE FROM file_link WHERE id IN (SELECT id FROM file_link WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)',
      [now, limit],
    );
  }

  async nextExpiry(): Promise<number | null> {
    const row = await this.#tx.get('SELECT min(expires_at) AS due FROM file_link');
    return (row?.['due'] as number | null | undefined) ?? null;
  }
}
