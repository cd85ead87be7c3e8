import type { DiskSums } from '../../../rules/disk/disk-quota.ts';
import type { Tx } from '../../engine/driver.ts';

type Counter = 'keys' | 'key_bytes' | 'file_bytes' | 'upload_bytes' | 'history_bytes';
type Sums = Map<Counter | 'version', number>;

/** The name under which jobs of a transaction share the totals. */
const SUMS = 'disk.sums';

/** The totals of the disk. Any code that changes the disk's rows also updates them. */
export class DiskRepository {
  readonly #tx: Tx;

  constructor(tx: Tx) {
    this.#tx = tx;
  }

  async use(): Promise<DiskSums> {
    const sums = await this.#sums();
    return {
      keys: sums.get('keys') ?? 0,
      keyBytes: sums.get('key_bytes') ?? 0,
      fileBytes: sums.get('file_bytes') ?? 0,
      uploadBytes: sums.get('upload_bytes') ?? 0,
    };
  }

  /** The bytes of earlier versions of task states, which don't count against the quota. */
  async historyBytes(): Promise<number> {
    return (await this.#sums()).get('history_bytes') ?? 0;
  }

  async add(counter: Counter, change: number): Promise<void> {
    if (change !== 0) await this.#change(counter, change);
  }

  /** The version for the next write of a key or file; never reused. */
  nextVersion(): Promise<number> {
    return this.#change('version', 1);
  }

  async #sums(): Promise<Sums> {
    const carried = this.#tx.group?.carried;
    const known = carried?.get(SUMS) as Sums | undefined;
    if (known) return known;
    const rows = await this.#tx.all<{ name: Counter; value: number }>(
      'SELECT name, value FROM disk',
    );
    const sums: Sums = new Map(rows.map(({ name, value }) => [name, value]));
    carried?.set(SUMS, sums);
    return sums;
  }

  /** Adds up changes in memory during the transaction and writes each total once at its end. */
  async #change(name: Counter | 'version', change: number): Promise<number> {
    const { group } = this.#tx;
    if (!group) throw new Error('Only a write changes the sums.');
    const sums = await this.#sums();
    const value = (sums.get(name) ?? 0) + change;
    sums.set(name, value);
    group.atEnd(`disk.${name}`, (tx) =>
      tx.put('UPDATE disk SET value = ? WHERE name = ?', [value, name]),
    );
    return value;
  }

  /** Bytes that download links sent in a calendar month, such as `2026-01`. */
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
