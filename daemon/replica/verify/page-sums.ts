import { crc32 } from 'node:zlib';
import { readSummed, sumNumbers } from '../../../shared/lib/summed-numbers.ts';
import { PAGE_BYTES } from '../../../shared/store/log/wal-layout.ts';

/** Two numbers precede the page checksums: a checksum of everything after it, and the generation. */
const HEADER_NUMBERS = 2;

/** The checksum of an unwritten page; SQLite leaves such holes inside a file. */
export const EMPTY_SUM = crc32(Buffer.alloc(PAGE_BYTES));

/**
 * CRC-32 of each page of the database file at the start of this generation. We compute them from the gateway's data and
 * never from the file, so that a page that changed on disk can't get a matching checksum.
 */
export interface PageSums {
  readonly generation: number;
  readonly sums: Uint32Array;
}

/** Uses the machine's byte order: replicas don't move to other machines. */
export function encodeSums({ generation, sums }: PageSums): Uint8Array {
  const numbers = new Uint32Array(HEADER_NUMBERS + sums.length);
  numbers[1] = generation;
  numbers.set(sums, HEADER_NUMBERS);
  return sumNumbers(numbers);
}

/** Null for bytes that don't come from `encodeSums`. */
export function decodeSums(bytes: Uint8Array): PageSums | null {
  const numbers = readSummed(bytes, HEADER_NUMBERS);
  if (numbers === null) return null;
  return { generation: numbers[1] ?? 0, sums: numbers.subarray(HEADER_NUMBERS) };
}

/** Computes the page checksums of a file as it arrives, in chunks of any length. */
export class PageSummer {
  readonly sums: Uint32Array;
  #done = 0;

  constructor(sizeBytes: number) {
    this.sums = new Uint32Array(Math.ceil(sizeBytes / PAGE_BYTES));
  }

  add(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length;) {
      const page = Math.floor(this.#done / PAGE_BYTES);
      const part = chunk.subarray(at, at + PAGE_BYTES - (this.#done % PAGE_BYTES));
      this.sums[page] = crc32(part, this.sums[page]);
      this.#done += part.length;
      at += part.length;
    }
  }
}
