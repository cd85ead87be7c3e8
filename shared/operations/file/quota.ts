import type { WriteContext } from '../../kernel/context.ts';
import { ServiceError } from '../../lib/errors.ts';
import { SERVICE } from '../../rules/actor.ts';
import { quotaPassed } from '../../rules/disk/disk-quota.ts';
import type { UploadRow } from '../../store/tables/disk/uploads.ts';

/** How many expired keys or uploads to drop at a time when a write needs room. */
const PORTION = 500;

/** The part of a write's context that freeing space needs; maintenance can provide it too. */
export type QuotaContext = Pick<WriteContext, 'store' | 'now' | 'record' | 'emit'>;

/** What a write adds to the disk; negative numbers free space. */
interface Change {
  readonly keys: number;
  readonly bytes: number;
  /** The key being written, which must not be dropped to make room. */
  readonly key?: string;
}

/**
 * Throws QUOTA_EXCEEDED if the disk has no room for a change. Expired entries don't count, even before maintenance
 * drops them.
 */
export async function freeSpace(context: QuotaContext, change: Change): Promise<void> {
  const { store } = context;
  for (;;) {
    const passed = quotaPassed(await store.disk.use(), change);
    if (passed === null) return;
    const isFreed =
      (await dropExpiredKeys(context, PORTION, change.key)) > 0 ||
      (passed.kind === 'bytes' && (await dropExpiredUploads(context, PORTION)) > 0);
    if (!isFreed) throw new ServiceError('QUOTA_EXCEEDED', { details: { ...passed } });
  }
}

/** Removes an upload and frees its space. The caller handles its blob reference. */
export async function closeUpload(
  { store }: Pick<QuotaContext, 'store'>,
  upload: UploadRow,
): Promise<void> {
  await store.uploads.delete(upload.id);
  await store.disk.add('upload_bytes', -upload.size_bytes);
}

/** Removes an upload, frees its space and drops its bytes. */
export async function dropUpload(context: QuotaContext, upload: UploadRow): Promise<void> {
  await closeUpload(context, upload);
  if (upload.digest !== null) await dropReference(context, upload.digest);
}

/** Drops one reference to a blob, after the row that had it is gone. */
export async function dropReference(
  { store, emit }: Pick<QuotaContext, 'store' | 'emit'>,
  digest: string,
): Promise<void> {
  if (await store.blobs.dropReference(digest)) emit({ kind: 'blob_dropped', digest });
}

/** Deletes at most `limit` expired keys, except `except`; returns how many. */
export async function dropExpiredKeys(
  { store, now }: Pick<QuotaContext, 'store' | 'now'>,
  limit: number,
  except?: string,
): Promise<number> {
  const { keys, bytes } = await store.kv.deleteExpired(now, limit, except);
  await store.disk.add('keys', -keys);
  await store.disk.add('key_bytes', -bytes);
  return keys;
}

/** Drops at most `limit` uploads that nobody completed in time; returns how many. */
export async function dropExpiredUploads(
  context: QuotaContext,
  limit: number,
  asOf = context.now,
): Promise<number> {
  const expired = await context.store.uploads.expired(asOf, limit);
  for (const upload of expired) {
    await dropUpload(context, upload);
    await context.record('upload.expired', upload.id, undefined, { by: SERVICE });
  }
  return expired.length;
}
