import type {
  FollowedLog,
  Reader,
  Row,
  SqlValue,
  Tx,
  Writer,
} from '../../shared/store/engine/driver.ts';
import { EmailRepository } from '../../shared/store/tables/mail/emails.ts';
import { MetaRepository } from '../../shared/store/tables/meta.ts';
import { openReader, openWriter } from '../../shared/store/engine/open.ts';

/** A column of sealed values. */
export interface SealedColumn {
  readonly table: string;
  readonly column: string;
  /** The key columns of a row. */
  readonly key: readonly string[];
  /** Limits the column to the row with this key, if other rows hold unsealed values. */
  readonly only?: string;
  /** Other columns to read from the same row. */
  readonly beside?: readonly string[];
}

/** A row and its sealed value. */
export interface SealedRow {
  readonly row: Row;
  readonly sealed: Uint8Array;
}

/** Rows held in memory at a time. */
const PORTION = 500;
const VALUE = 'sealed_value';

/** Reads and replaces sealed values of any table, in one transaction or snapshot. */
export class SealedRows {
  readonly meta: MetaRepository;
  readonly emails: EmailRepository;
  readonly #tx: Tx;

  constructor(tx: Tx) {
    this.#tx = tx;
    this.meta = new MetaRepository(tx);
    this.emails = new EmailRepository(tx);
  }

  /** Yields every sealed value of a column; the caller may replace values that it has already read. */
  async *of(column: SealedColumn): AsyncGenerator<SealedRow> {
    let after: Row | null = null;
    for (;;) {
      const rows: Row[] = await this.#page(column, after);
      for (const row of rows) yield { row, sealed: row[VALUE] as Uint8Array };
      after = rows.at(-1) ?? null;
      if (!after) return;
    }
  }

  /** Replaces a sealed value, and text columns of the same row. */
  async replace(
    { table, column, key }: SealedColumn,
    { row }: SealedRow,
    to: { readonly sealed: Uint8Array; readonly texts: Readonly<Record<string, string>> },
  ): Promise<void> {
    const names = [column, ...Object.keys(to.texts)];
    await this.#tx.put(
      `UPDATE ${table} SET ${names.map((name) => `${name} = ?`).join(', ')} WHERE ${key.map((name) => `${name} = ?`).join(' AND ')}`,
      [to.sealed, ...Object.values(to.texts), ...valuesOf(row, key)],
    );
  }

  #page({ table, column, key, only, beside = [] }: SealedColumn, after: Row | null) {
    const names = key.join(', ');
    const conditions = [`typeof(${column}) = 'blob'`];
    const bound: SqlValue[] = [];
    if (only !== undefined) {
      conditions.push(`${names} = ?`);
      bound.push(only);
    }
    if (after) {
      conditions.push(`(${names}) > (${key.map(() => '?').join(', ')})`);
      bound.push(...valuesOf(after, key));
    }
    return this.#tx.all(
      `SELECT ${[...key, ...beside].join(', ')}, ${column} AS ${VALUE} FROM ${table} WHERE ${conditions.join(' AND ')} ORDER BY ${names} LIMIT ${PORTION}`,
      bound,
    );
  }
}

function valuesOf(row: Row, names: readonly string[]): SqlValue[] {
  return names.map((name) => row[name] ?? null);
}

/** The sealed values of a database file that no other process has open. Replicas get changes to it like any write. */
export class SealedDatabase {
  readonly #reader: Reader;
  readonly #writer: Writer & FollowedLog;

  private constructor(reader: Reader, writer: Writer & FollowedLog) {
    this.#reader = reader;
    this.#writer = writer;
  }

  /** Opens the file and migrates its tables. `now` returns milliseconds. */
  static async open(
    path: string,
    family: 'project' | 'control',
    now: () => number,
  ): Promise<SealedDatabase> {
    const location = { kind: 'file', path } as const;
    const writer = await openWriter(location, family, {
      isMade: true,
      // The failed write throws, and nothing else writes.
      onFatal: () => undefined,
      ...(family === 'project' && { replication: { now, onReplication: () => undefined } }),
    });
    try {
      return new SealedDatabase(await openReader(location), writer);
    } catch (error) {
      await writer.close();
      throw error;
    }
  }

  /** `fn` awaits nothing but the rows. */
  read<T>(fn: (rows: SealedRows) => Promise<T>): Promise<T> {
    return this.#reader.read((tx) => fn(new SealedRows(tx)));
  }

  /** One transaction, durable when it resolves; `fn` awaits nothing but the rows. */
  write<T>(fn: (rows: SealedRows) => Promise<T>): Promise<T> {
    return this.#writer.write((tx) => fn(new SealedRows(tx)));
  }

  async close(): Promise<void> {
    await this.#reader.close();
    await this.#writer.close();
  }
}
