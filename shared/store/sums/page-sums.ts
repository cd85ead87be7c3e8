import { readFileSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import { errorCode } from '../../lib/guards.ts';
import { readSummed, sumNumbers } from '../../lib/summed-numbers.ts';
import { syncFolder, writeDurably } from '../log/log-files.ts';

/** Before the sums: a CRC-32 of all that follows, the version of the format, two numbers of salts, two of the position. */
const HEADER_NUMBERS = 6;
const VERSION = 1;
const HIGH = 2 ** 32;

/** What the pages of a database file must be. */
export interface PageSums {
  /**
   * The salts, as hex, of the log from which the newest sums come. While the log still has them, the file may have the
   * earlier content of its pages.
   */
  readonly salts: string;
  /** The newest commit in that log. */
  readonly position: number;
  /** CRC-32 of each page, from page 1; 0 where it isn't known, and `DAMAGED_SUM` where it never will be. */
  readonly sums: Uint32Array;
}

/** The sum of a page whose content was damaged when it was written, so that no content is right. */
export const DAMAGED_SUM = 0xffffffff;

/** The file of sums beside a database. */
export function sumsPath(databasePath: string): string {
  return `${databasePath}-sums`;
}

/** A page's sum: neither 0 nor `DAMAGED_SUM`. */
export function pageSum(page: Uint8Array): number {
  return Math.min(Math.max(crc32(page), 1), DAMAGED_SUM - 1);
}

/** Null if there are none yet; `damaged` if they don't have their own sum. */
export function readSums(databasePath: string): PageSums | 'damaged' | null {
  let bytes: Buffer;
  try {
    bytes = readFileSync(sumsPath(databasePath));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
  return decode(bytes) ?? 'damaged';
}

/** Durable when it returns. */
export function writeSums(databasePath: string, sums: PageSums): void {
  writeDurably(sumsPath(databasePath), encode(sums));
}

/** After this, no page's sum is known. Durable when it returns. */
export function dropSums(databasePath: string): void {
  rmSync(`${sumsPath(databasePath)}.part`, { force: true });
  rmSync(sumsPath(databasePath), { force: true });
  syncFolder(dirname(databasePath));
}

/** In the machine's byte order: on another kind of machine the sums count as damaged, and are made again. */
function encode({ salts, position, sums }: PageSums): Uint8Array {
  const numbers = new Uint32Array(HEADER_NUMBERS + sums.length);
  numbers[1] = VERSION;
  numbers[2] = Number.parseInt(salts.slice(0, 8), 16);
  numbers[3] = Number.parseInt(salts.slice(8), 16);
  numbers[4] = position % HIGH;
  numbers[5] = Math.floor(position / HIGH);
  numbers.set(sums, HEADER_NUMBERS);
  return sumNumbers(numbers);
}

function decode(bytes: Uint8Array): PageSums | null {
  const numbers = readSummed(bytes, HEADER_NUMBERS);
  if (numbers === null) return null;
  const [, version, ...header] = numbers.subarray(0, HEADER_NUMBERS);
  if (version !== VERSION) return null;
  const [salt1 = 0, salt2 = 0, low = 0, high = 0] = header;
  return {
    salts: [salt1, salt2].map((salt) => salt.toString(16).padStart(8, '0')).join(''),
    position: low + high * HIGH,
    sums: numbers.subarray(HEADER_NUMBERS),
  };
}
