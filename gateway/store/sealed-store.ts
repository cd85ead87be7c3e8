import type { FollowedLog, Reader, Row, SqlValue, Tx, Writer } from '../../shared/store/driver.ts';
import { EmailRepository } from '../../shared/store/emails.ts';
import { MetaRepository } from '../../shared/store/meta.ts';
import { openReader, openWriter } from '../../shared/store/open.ts';

/** A column of sealed values. */
export interface SealedColumn {
  readonly table: string;
  readonly column: string;
  /** What names a row. */
  readonly key: readonly string[];
  /** The one row that is meant, by its key, where others hold something else. */
  readonly only?: string;
  /** Columns that are read beside it. */
  readonly beside?: readonly string[];
}

/** A row with what it has sealed. */
export interface SealedRow {
  readonly row: Row;
  readonly sealed: Uint8Array;
}

/** So many rows are held in memory. */
const PORTION = 500;
const VALUE = 'sealed_value';

/** The sealed values of a database, of whichever tables, over one transaction or snapshot. */
export class SealedRows {
  readonly meta: MetaRepository;
  readonly emails: EmailRepository;
  readonly #tx: Tx;

  constructor(tx: Tx) {
    this.#tx = tx;
    this.meta = new MetaRepository(tx);
    this.emails = new EmailRepository(tx);
  }

  /** All that a column has. What was read may be replaced meanwhile. */
  async *of(column: SealedColumn): AsyncGenerator<SealedRow> {
    let after: Row | null = null;
    for (;;) {
      const rows: Row[] = await this.#page(column, after);
      for (const row of rows) yield { row, sealed: row[VALUE] as Uint8Array };
      after = rows.at(-1) ?? null;
      if (!after) return;
    }
  }

  /** Puts another value in the place of one, and texts in other columns of its row. */
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

/** A database file that nobody else has open, seen as what is sealed in it. What is changed reaches replicas like any write. */
export class SealedDatabase {
  readonly #reader: Reader;
  readonly #writer: Writer & FollowedLog;

  private constructor(reader: Reader, writer: Writer & FollowedLog) {
    this.#reader = reader;
    this.#writer = writer;
  }

  /** Brings its tables up to date. `now` answers milliseconds. */
  static async open(
    path: string,
    family: 'project' | 'control',
    now: () => number,
  ): Promise<SealedDatabase> {
    const location = { kind: 'file', path } as const;
    const writer = await openWriter(location, family, {
      isMade: true,
      // The write that failed says so itself, and nothing else is written.
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
