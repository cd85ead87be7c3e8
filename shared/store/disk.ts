import type { DiskSums } from '../rules/disk-quota.ts';
import type { Row, Tx } from './driver.ts';

type Counter = 'keys' | 'key_bytes' | 'file_bytes' | 'upload_bytes';

/** The sums of the disk, kept in step with its rows by whoever changes them. */
export class DiskRepository {
  readonly #tx: Tx;

  constructor(tx: Tx) {
    this.#tx = tx;
  }

  async use(): Promise<DiskSums> {
    const rows = await this.#tx.all('SELECT name, value FROM disk');
    const value = new Map(rows.map((row) => [row['name'], Number(row['value'])]));
    return {
      keys: value.get('keys') ?? 0,
      keyBytes: value.get('key_bytes') ?? 0,
      fileBytes: value.get('file_bytes') ?? 0,
      uploadBytes: value.get('upload_bytes') ?? 0,
    };
  }

  async add(counter: Counter, change: number): Promise<void> {
    if (change === 0) return;
    await this.#tx.put('UPDATE disk SET value = value + ? WHERE name = ?', [change, counter]);
  }

  /** The version of the next write of a key or a file: never given twice. */
  async nextVersion(): Promise<number> {
    await this.#tx.put("UPDATE disk SET value = value + 1 WHERE name = 'version'");
    const row = await this.#tx.get<Row & { value: number }>(
      "SELECT value FROM disk WHERE name = 'version'",
    );
    return row?.value ?? 0;
  }

  /** Bytes that links sent in a calendar month, written `2026-01`. */
  async transferred(month: string): Promise<number> {
    const row = await this.#tx.get('SELECT bytes FROM transfer WHERE month = ?', [month]);
    return Number(row?.['bytes'] ?? 0);
  }

  async addTransfer(month: string, bytes: number): Promise<void> {
    await this.#tx.put(
      'INSERT INTO transfer (month, bytes) VALUES (?, max(0, ?)) ON CONFLICT DO UPDATE SET bytes = max(0, bytes + ?)',
      [month, bytes, bytes],
    );
  }
}
