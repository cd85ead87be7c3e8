import { crc32 } from 'node:zlib';

/**
 * The bytes of numbers of 32 bits whose first is the CRC-32 of all others; it's set here. In the machine's byte order, so
 * another kind of machine finds them damaged.
 */
export function sumNumbers(numbers: Uint32Array): Uint8Array {
  numbers[0] = crc32(bytesOf(numbers.subarray(1)));
  return bytesOf(numbers);
}

/** Null for bytes that don't have their own sum, or fewer than `least` numbers. */
export function readSummed(bytes: Uint8Array, least: number): Uint32Array | null {
  if (bytes.byteLength % 4 !== 0 || bytes.byteLength < least * 4) return null;
  const numbers = new Uint32Array(bytes.byteLength / 4);
  bytesOf(numbers).set(bytes);
  return numbers[0] === crc32(bytesOf(numbers.subarray(1))) ? numbers : null;
}

function bytesOf({ buffer, byteOffset, byteLength }: Uint32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
