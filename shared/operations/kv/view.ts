import * as z from 'zod';
import { named } from '../../kernel/schema-names.ts';
import { isoTime } from '../../lib/clock.ts';
import { parseExact } from '../../lib/json/exact-json.ts';
import { KV_TTL_MAX_SECONDS } from '../../lib/limits.ts';
import type { KvHead, KvRow } from '../../store/tables/disk/kv.ts';

/** A key without its value. */
export const kvHead = z.object({
  key: z.string().describe('The key.'),
  size_bytes: z.int().describe('Size of the stored JSON.'),
  expires_at: z.string().nullable().describe('When the key ends; null means never.'),
  updated_at: z.string().describe('When it was last written.'),
  version: z.int().describe('Rises with each write; pass as `if_version`.'),
});

/** A key with its value. */
export const kvEntry = named(
  'KvEntry',
  z
    .object({
      key: z.string().describe('The key.'),
      value: z.unknown().describe('The stored JSON.'),
      expires_at: z.string().nullable().describe('When the key ends; null means never.'),
      updated_at: z.string().describe('When it was last written.'),
      version: z.int().describe('Rises with each write; pass as `if_version`.'),
    })
    .describe('A key with its value.'),
);

/** How long a key lasts. */
export const ttlSeconds = z.int().min(1).max(KV_TTL_MAX_SECONDS).optional();

export function toHead({ key, size_bytes, expires_at, updated_at, version }: KvHead) {
  return { key, size_bytes, expires_at: expiryText(expires_at), updated_at, version };
}

export function toEntry(row: KvRow): z.infer<typeof kvEntry> {
  const { key, expires_at, updated_at, version } = row;
  return { key, value: valueOf(row), expires_at: expiryText(expires_at), updated_at, version };
}

/** The stored JSON. */
export function valueOf({ value }: Pick<KvRow, 'value'>): unknown {
  return parseExact(Buffer.from(value).toString('utf8'));
}

/** When a key expires, as callers see it. */
export function expiryText(expiresAt: number | null): string | null {
  return expiresAt === null ? null : isoTime(expiresAt);
}

/** When a key with this lifetime expires, in Unix milliseconds; null means never. */
export function expiryOf(seconds: number | undefined, now: number): number | null {
  return seconds === undefined ? null : now + seconds * 1000;
}
