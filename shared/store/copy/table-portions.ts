import type { Reader, Row, SqlValue, Tx } from '../engine/driver.ts';

/** Limits of a portion, in bytes (a single larger row still travels) and in rows. */
const PORTION_BYTES = 1024 * 1024;
const PORTION_ROWS = 1000;
/** Rows measured at a time. */
const MEASURED_ROWS = 5000;
/** Overhead of a value in a request, in bytes. */
const VALUE_BYTES = 24;

/** A table as statements name it. */
export interface Table {
  /** Quoted, like the columns. */
  readonly name: string;
  readonly columns: readonly string[];
  /** The plain names of the columns of its primary key. */
  readonly key: readonly string[];
  /** An SQL condition that selects the rows. */
  readonly only: string;
}

type Key = readonly SqlValue[];

/**
 * Yields a table's rows in key order, in portions. It measures the rows first, because a server limits the size of an
 * answer.
 */
export async function* portionsOf(table: Table, from: Reader): AsyncGenerator<Row[]> {
  let after: Key | null = null;
  for (;;) {
    const measured: RowSize[] = await from.read((tx) => measure(tx, table, after));
    for (const last of cut(measured)) {
      const range: Range = { after, last };
      yield await from.read((tx) => rowsOf(tx, table, range));
      after = last;
    }
    if (measured.length < MEASURED_ROWS) return;
  }
}

interface RowSize {
  readonly key: Key;
  readonly sizeBytes: number;
}

interface Range {
  readonly after: Key | null;
  readonly last: Key;
}

async function measure(tx: Tx, table: Table, after: Key | null): Promise<RowSize[]> {
  const { name, columns, key, only } = table;
  // A row stores the length of each blob and text, so this reads no content.
  const size = columns.map((column) => `coalesce(octet_length(${column}), 0)`).join(' + ');
  const keys = key.map((column, index) => `${quoted(column)} AS k${index}`).join(', ');
  const behind = after ? `${tupleOf(key)} > ${placesOf(key)}` : '1';
  const rows = await tx.all(
    `SELECT ${keys}, ${size} AS size FROM ${name} WHERE ${only} AND ${behind} ORDER BY ${orderOf(key)} LIMIT ${MEASURED_ROWS}`,
    after ?? [],
  );
  return rows.map((row) => ({
    key: key.map((_, index) => exact(row[`k${index}`] ?? null)),
    sizeBytes: Number(row['size']) + columns.length * VALUE_BYTES,
  }));
}

/** Returns the last key of each portion. */
function cut(measured: readonly RowSize[]): Key[] {
  const lasts: Key[] = [];
  let [bytes, rows] = [0, 0];
  measured.forEach(({ key, sizeBytes }, index) => {
    bytes += sizeBytes;
    rows += 1;
    const next = measured[index + 1];
    const isFull = rows === PORTION_ROWS || (next && bytes + next.sizeBytes > PORTION_BYTES);
    if (next && !isFull) return;
    lasts.push(key);
    [bytes, rows] = [0, 0];
  });
  return lasts;
}

function rowsOf(tx: Tx, table: Table, { after, last }: Range): Promise<Row[]> {
  const { name, columns, key, only } = table;
  const behind = after ? `${tupleOf(key)} > ${placesOf(key)} AND ` : '';
  return tx.all(
    `SELECT ${columns.join(', ')} FROM ${name} WHERE ${only} AND ${behind}${tupleOf(key)} <= ${placesOf(key)} ORDER BY ${orderOf(key)}`,
    [...(after ?? []), ...last],
  );
}

const tupleOf = (key: readonly string[]): string => `(${orderOf(key)})`;
const placesOf = (key: readonly string[]): string => `(${key.map(() => '?').join(', ')})`;
const orderOf = (key: readonly string[]): string => key.map(quoted).join(', ');

/** Binds a safe integer as a BigInt, so that a column of any type compares it as an integer. */
export function exact(value: SqlValue): SqlValue {
  return Number.isSafeInteger(value) ? BigInt(value as number) : value;
}

export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
