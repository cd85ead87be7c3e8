import type { InStatement, ResultSet } from '@libsql/client/http';
import { checked } from '../engine/bindings.ts';
import type { Row, SqlValue } from '../engine/driver.ts';

/** A statement for a libSQL server, with the values that the embedded driver binds: it, too, takes a number as a float. */
export function toStatement(sql: string, params: readonly SqlValue[] = []): InStatement {
  return { sql, args: checked(params).map(sendable) };
}

function sendable(value: SqlValue): SqlValue {
  // A lone surrogate would break the whole request. An embedded database stores the same replacement.
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value === 'bigint' && BigInt.asIntN(64, value) !== value) {
    throw new RangeError('A bigint of more than 64 bits cannot be bound.');
  }
  return value;
}

/** Rows in the embedded driver's form: integers as numbers, bytes as a Buffer. */
export function toRows({ columns, rows }: ResultSet): Row[] {
  return rows.map((values) => {
    const row: Row = {};
    columns.forEach((name, index) => {
      row[name] = toValue(values[index]);
    });
    return row;
  });
}

function toValue(value: unknown): SqlValue {
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof ArrayBuffer) return Buffer.from(value);
  return (value ?? null) as SqlValue;
}
