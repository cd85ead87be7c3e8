import { crc32 } from 'node:zlib';
import { errorCode } from '../../lib/guards.ts';
import { isDamage } from '../engine/connection.ts';

/** The code of a `RowDamage`, which outlives the way between threads. */
const ROW_DAMAGE = 'ROW_DAMAGE';

/** A row isn't as it was written; the message names it: `event evt_…`. */
export class RowDamage extends Error {
  readonly code = ROW_DAMAGE;
}

/** What is damaged, if that is what the error says; null for other errors. */
export function damageIn(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  if (errorCode(error) === ROW_DAMAGE) return error.message;
  return isDamage(error) ? 'its structure' : null;
}

type Field = string | number | null;

/** CRC-32 of what a row says. Texts have no NUL, so no two rows are joined to the same bytes. */
export function contentSum(fields: readonly Field[], bytes: Uint8Array | null = null): number {
  const sum = crc32(fields.join('\0'));
  return bytes === null ? sum : crc32(bytes, sum);
}

/** Whether a row has the stored sum. Rows of earlier releases have none until a check adds it. */
export function isSound(
  sum: number | null,
  fields: readonly Field[],
  bytes: Uint8Array | null = null,
): boolean {
  return sum === null || sum === contentSum(fields, bytes);
}
