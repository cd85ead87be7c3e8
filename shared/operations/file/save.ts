import { isoTime } from '../../lib/clock.ts';
import type { WriteContext } from '../../kernel/context.ts';
import type { FileRow } from '../../store/tables/disk/files.ts';
import type { UploadRow } from '../../store/tables/disk/uploads.ts';
import { closeUpload, dropReference, dropUpload, freeSpace } from './quota.ts';

interface NewFile {
  readonly path: string;
  readonly digest: string;
  readonly size_bytes: number;
  readonly content_type: string;
}

/**
 * Saves a file over any file at its path: ends the old file's links and drops open uploads to the path. QUOTA_EXCEEDED.
 * `upload` is the upload that brought the bytes, if any: the file takes over its space and blob reference.
 */
export async function saveFile(
  context: WriteContext,
  file: NewFile,
  upload: UploadRow | null,
): Promise<FileRow> {
  const { store, now } = context;
  const old = await store.files.find(file.path);
  if (upload) await closeUpload(context, upload);
  else await store.blobs.addReference(file.digest, file.size_bytes);
  // Do this first, because it frees space.
  await endWhatPointsAt(context, file.path);
  const change = file.size_bytes - (old?.size_bytes ?? 0);
  await freeSpace(context, { keys: 0, bytes: change });
  const version = await store.disk.nextVersion();
  const row = { ...file, version, updated_at: isoTime(now) };
  await store.files.put(row, upload?.id ?? null);
  await store.disk.add('file_bytes', change);
  if (old) await dropReference(context, old.digest);
  return row;
}

/** Deletes a file, its links and the open uploads to its path; returns whether the file existed. */
export async function deleteFile(context: WriteContext, path: string): Promise<boolean> {
  const { store } = context;
  const old = await store.files.find(path);
  if (old) {
    await store.files.delete(path);
    await store.disk.add('file_bytes', -old.size_bytes);
    await dropReference(context, old.digest);
  }
  await endWhatPointsAt(context, path);
  return old !== undefined;
}

async function endWhatPointsAt(context: WriteContext, path: string): Promise<void> {
  const { store } = context;
  await store.fileLinks.revokePath(path);
  for (const upload of await store.uploads.atPath(path)) await dropUpload(context, upload);
}
