import { DISK_KEYS_MAX, DISK_MAX_BYTES } from '../../lib/limits.ts';

/** Totals of a disk. */
export interface DiskSums {
  readonly keys: number;
  readonly keyBytes: number;
  readonly fileBytes: number;
  /** The declared sizes of open uploads, which may fill the disk like files. */
  readonly uploadBytes: number;
}

/** A limit that a change would exceed, in the form of QUOTA_EXCEEDED's details. */
export interface QuotaExcess {
  readonly kind: 'keys' | 'bytes';
  readonly limit: number;
  readonly used: number;
}

/** The bytes that count against the quota: values, files, and the declared sizes of open uploads. */
export function usedBytes({ keyBytes, fileBytes, uploadBytes }: DiskSums): number {
  return keyBytes + fileBytes + uploadBytes;
}

/** The limit that a change would exceed, or null. Changes that free space always fit. */
export function quotaPassed(
  sums: DiskSums,
  change: { readonly keys: number; readonly bytes: number },
): QuotaExcess | null {
  if (change.keys > 0 && sums.keys + change.keys > DISK_KEYS_MAX) {
    return { kind: 'keys', limit: DISK_KEYS_MAX, used: sums.keys };
  }
  const used = usedBytes(sums);
  if (change.bytes > 0 && used + change.bytes > DISK_MAX_BYTES) {
    return { kind: 'bytes', limit: DISK_MAX_BYTES, used };
  }
  return null;
}
