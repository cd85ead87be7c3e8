import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { Query, SqlValue } from '../engine/driver.ts';

/**
 * The groups that a server keeps for mirrors: `follows` is the token of the group before. `statements` is null for a
 * group that was too large to keep, and for all groups before it a mirror must be copied again. `logged_at` is in
 * milliseconds: what was deleted is gone from here a day later, with the next write.
 */
export const LOG_TABLE = 'group_log';

export const CREATE_LOG_SQL = `CREATE TABLE IF NOT EXISTS ${LOG_TABLE} (
  position INTEGER PRIMARY KEY,
  token TEXT NOT NULL,
  follows TEXT,
  logged_at INTEGER NOT NULL,
  statements BLOB
) STRICT`;

/** Statements as bytes: each text once, and values so that they come back with their types. */
export function encodeStatements(statements: readonly Query[]): Uint8Array {
  const texts = new Map<string, number>();
  const steps = statements.map(({ sql, params }) => {
    const at = texts.get(sql) ?? texts.size;
    texts.set(sql, at);
    return [at, ...params.map(encodeValue)];
  });
  return deflateRawSync(JSON.stringify({ texts: [...texts.keys()], steps }), { level: 1 });
}

/** Throws if the bytes are anything else. */
export function decodeStatements(bytes: Uint8Array): Query[] {
  const { texts, steps } = JSON.parse(inflateRawSync(bytes).toString('utf8')) as {
    readonly texts: readonly string[];
    readonly steps: readonly (readonly [number, ...EncodedValue[]])[];
  };
  return steps.map(([at, ...values]) => {
    const sql = texts[at];
    if (sql === undefined) throw new Error('A statement has no text.');
    return { sql, params: values.map(decodeValue) };
  });
}

type EncodedValue = string | number | null | { readonly int: string } | { readonly bytes: string };

function encodeValue(value: SqlValue): EncodedValue {
  if (typeof value === 'bigint') return { int: String(value) };
  return value instanceof Uint8Array ? { bytes: Buffer.from(value).toString('base64') } : value;
}

function decodeValue(value: EncodedValue): SqlValue {
  if (typeof value !== 'object' || value === null) return value;
  return 'int' in value ? BigInt(value.int) : Buffer.from(value.bytes, 'base64');
}
