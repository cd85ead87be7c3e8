import type { WriteContext } from '../../kernel/context.ts';
import { ServiceError } from '../../lib/errors.ts';
import { quotaPassed } from '../../rules/disk-quota.ts';
import type { UploadRow } from '../../store/uploads.ts';

/** Drops so many expired keys or uploads at a time when room is needed. */
const PORTION = 500;

/** What it takes to give room back: an operation has it, and so has maintenance. */
export type QuotaContext = Pick<WriteContext, 'store' | 'now' | 'recordService' | 'emit'>;

/** What a write adds to the disk; below 0 it takes away. */
interface Change {
  readonly keys: number;
  readonly bytes: number;
  /** The key that is written: it makes no room for itself. */
  readonly key?: string;
}

/** QUOTA_EXCEEDED when the disk has no room for a change. What has expired takes no room, swept or not. */
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

/** Gives the room of an upload back. Its reference to a blob is left to the caller. */
export async function closeUpload(
  { store }: Pick<QuotaContext, 'store'>,
  upload: UploadRow,
): Promise<void> {
  await store.uploads.delete(upload.id);
  await store.disk.add('upload_bytes', -upload.size_bytes);
}

/** Gives the room of an upload back, and its bytes. */
export async function dropUpload(context: QuotaContext, upload: UploadRow): Promise<void> {
  await closeUpload(context, upload);
  if (upload.digest !== null) await dropReference(context, upload.digest);
}

/** A row that named this blob is gone. */
export async function dropReference(
  { store, emit }: Pick<QuotaContext, 'store' | 'emit'>,
  digest: string,
): Promise<void> {
  if (await store.blobs.dropReference(digest)) emit({ kind: 'blob_dropped', digest });
}

/** Deletes keys whose time is over, at most `limit` and never `except`; answers how many. */
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

/** Drops uploads that nobody completed in time, at most `limit`; answers how many. */
export async function dropExpiredUploads(
  context: QuotaContext,
  limit: number,
  asOf = context.now,
): Promise<number> {
  const expired = await context.store.uploads.expired(asOf, limit);
  for (const upload of expired) {
    await dropUpload(context, upload);
    await context.recordService('upload.expired', upload.id);
  }
  return expired.length;
}
