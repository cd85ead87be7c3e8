import { digitsOf } from './number.ts';

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB'] as const;

/** Such as `0 bytes` or `12.5 MiB`; rounds down. */
export function bytesText(bytes: number): string {
  const step = bytes < 1 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), UNITS.length - 1);
  const amount = Math.floor((bytes / 1024 ** step) * 10) / 10;
  return `${digitsOf(amount)} ${UNITS[step] ?? ''}`;
}
