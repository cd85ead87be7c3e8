import { DISK_KEYS_MAX, DISK_MAX_BYTES } from '../lib/limits.ts';

/** What the disk holds in sum. */
export interface DiskSums {
  readonly keys: number;
  readonly keyBytes: number;
  readonly fileBytes: number;
  /** Declared by open uploads: they may fill the disk like files. */
  readonly uploadBytes: number;
}

/** A limit that a change would pass, as QUOTA_EXCEEDED details name it. */
export interface QuotaPassed {
  readonly kind: 'keys' | 'bytes';
  readonly limit: number;
  readonly used: number;
}

/** Bytes that count against the disk: values, files, and what open uploads may bring. */
export function usedBytes({ keyBytes, fileBytes, uploadBytes }: DiskSums): number {
  return keyBytes + fileBytes + uploadBytes;
}

/** The limit a change would pass, or null. What shrinks the disk always fits. */
export function quotaPassed(
  sums: DiskSums,
  change: { readonly keys: number; readonly bytes: number },
): QuotaPassed | null {
  if (change.keys > 0 && sums.keys + change.keys > DISK_KEYS_MAX) {
    return { kind: 'keys', limit: DISK_KEYS_MAX, used: sums.keys };
  }
  const used = usedBytes(sums);
  if (change.bytes > 0 && used + change.bytes > DISK_MAX_BYTES) {
    return { kind: 'bytes', limit: DISK_MAX_BYTES, used };
  }
  return null;
}
