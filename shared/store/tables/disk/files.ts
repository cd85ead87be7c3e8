import { contentSum, isSound, RowDamage } from '../../sums/content-sum.ts';
import type { SumColumn } from './kv.ts';
import type { Row, Tx } from '../../engine/driver.ts';
import { inRange, levelQuery, type LevelRange, type ListRange } from '../text-range.ts';

export interface FileRow extends Row {
  path: string;
  digest: string;
  size_bytes: number;
  content_type: string;
  version: number;
  updated_at: string;
}

const COLUMNS = 'path, digest, size_bytes, content_type, version, updated_at';

const SUMMED = `${COLUMNS}, sum`;

/** What a row's sum covers. */
export function fileFields(row: FileRow) {
  return [row.path, row.digest, row.size_bytes, row.content_type, row.version, row.updated_at];
}

function sound(row: FileRow & SumColumn): FileRow {
  if (!isSound(row.sum, fileFields(row))) throw new RowDamage(`file ${row.path}`);
  const { sum: _, ...file } = row;
  return file;
}

/** Files; each path refers to a blob. A row that isn't as it was written throws a `RowDamage`. */
export class FileRepository {
  readonly #tx: Tx;

  constructor(tx: Tx) {
    this.#tx = tx;
  }

  find(path: string): Promise<FileRow | undefined> {
    return this.#find('path = ?', [path]);
  }

  async #find(where: string, params: readonly string[]): Promise<FileRow | undefined> {
    const sql = `SELECT ${SUMMED} FROM file WHERE ${where}`;
    const row = await this.#tx.get<FileRow & SumColumn>(sql, params);
    return row && sound(row);
  }

  /** In the byte order of paths. */
  async page(range: ListRange): Promise<FileRow[]> {
    const { sql, params } = inRange('path', range);
    const rows = await this.#tx.all<FileRow & SumColumn>(
      `SELECT ${SUMMED} FROM file WHERE ${sql} ORDER BY path LIMIT ?`,
      [...params, range.limit],
    );
    return rows.map(sound);
  }

  /** The files on a level, and the first file of each folder there. */
  async level(range: LevelRange): Promise<FileRow[]> {
    const { sql, params } = levelQuery({ table: 'file', column: 'path', columns: SUMMED }, range);
    return (await this.#tx.all<FileRow & SumColumn>(sql, params)).map(sound);
  }

  /** The file at a path, if this upload brought its current content. */
  findUploaded(path: string, uploadId: string): Promise<FileRow | undefined> {
    return this.#find('path = ? AND upload_id = ?', [path, uploadId]);
  }

  /** `uploadId` is the upload that brought the bytes, if any. */
  async put(row: FileRow, uploadId: string | null = null): Promise<void> {
    const { path, digest, size_bytes, content_type, version, updated_at } = row;
    await this.#tx.put(
      `INSERT INTO file (${COLUMNS}, upload_id, sum) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (path) DO UPDATE SET digest = excluded.digest, size_bytes = excluded.size_bytes,
         content_type = excluded.content_type, version = excluded.version, updated_at = excluded.updated_at,
         upload_id = excluded.upload_id, sum = excluded.sum`,
      [
        path,
        digest,
        size_bytes,
        content_type,
        version,
        updated_at,
        uploadId,
        contentSum(fileFields(row)),
      ],
    );
  }

  async delete(path: string): Promise<void> {
    await this.#tx.put('DELETE FROM file WHERE path = ?', [path]);
  }
}
