import type { Row, Tx } from './driver.ts';
import { inRange, levelQuery, type LevelRange, type ListRange } from './text-range.ts';

export interface FileRow extends Row {
  path: string;
  digest: string;
  size_bytes: number;
  content_type: string;
  version: number;
  updated_at: string;
}

const COLUMNS = 'path, digest, size_bytes, content_type, version, updated_at';

/** Files; each path refers to a blob. */
export class FileRepository {
  readonly #tx: Tx;

  constructor(tx: Tx) {
    this.#tx = tx;
  }

  find(path: string): Promise<FileRow | undefined> {
    return this.#tx.get<FileRow>(`SELECT ${COLUMNS} FROM file WHERE path = ?`, [path]);
  }

  /** In the byte order of paths. */
  page(range: ListRange): Promise<FileRow[]> {
    const { sql, params } = inRange('path', range);
    return this.#tx.all<FileRow>(`SELECT ${COLUMNS} FROM file WHERE ${sql} ORDER BY path LIMIT ?`, [
      ...params,
      range.limit,
    ]);
  }

  /** The files on a level, and the first file of each folder there. */
  level(range: LevelRange): Promise<FileRow[]> {
    const { sql, params } = levelQuery({ table: 'file', column: 'path', columns: COLUMNS }, range);
    return this.#tx.all<FileRow>(sql, params);
  }

  /** The file at a path, if this upload brought its current content. */
  findUploaded(path: string, uploadId: string): Promise<FileRow | undefined> {
    return this.#tx.get<FileRow>(`SELECT ${COLUMNS} FROM file WHERE path = ? AND upload_id = ?`, [
      path,
      uploadId,
    ]);
  }

  /** `uploadId` is the upload that brought the bytes, if any. */
  async put(row: FileRow, uploadId: string | null = null): Promise<void> {
    const { path, digest, size_bytes, content_type, version, updated_at } = row;
    await this.#tx.put(
      `INSERT INTO file (${COLUMNS}, upload_id) VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (path) DO UPDATE SET digest = excluded.digest, size_bytes = excluded.size_bytes,
         content_type = excluded.content_type, version = excluded.version, updated_at = excluded.updated_at,
         upload_id = excluded.upload_id`,
      [path, digest, size_bytes, content_type, version, updated_at, uploadId],
    );
  }

  async delete(path: string): Promise<void> {
    await this.#tx.put('DELETE FROM file WHERE path = ?', [path]);
  }
}
