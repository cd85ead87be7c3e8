import { hash } from 'node:crypto';
import { isoTime } from '../../lib/clock.ts';
import type { UploadAddress, WriteContext } from '../../kernel/context.ts';
import { ServiceError } from '../../lib/errors.ts';
import { newToken } from '../../lib/ids.ts';
import { UPLOAD_MS, UPLOADS_PER_PATH } from '../../lib/limits.ts';
import type { FileRow } from '../../store/tables/disk/files.ts';
import { freeSpace } from './quota.ts';
import { saveFile } from './save.ts';

/** Tells the caller how to send the bytes. */
export interface OpenUpload {
  readonly status: 'uploading';
  readonly upload_id: string;
  readonly upload_url: string;
  readonly upload_headers: Record<string, string>;
  readonly expires_at: string;
}

/** An upload that goes straight to the blob store; its URL contains the id. */
export interface DirectUpload extends UploadAddress {
  readonly id: string;
}

/** Opens an upload to a path and reserves space for it. UPLOAD_LIMIT, QUOTA_EXCEEDED. */
export async function openUpload(
  context: WriteContext,
  wanted: { readonly path: string; readonly size: number; readonly content_type: string },
  direct: DirectUpload | null,
): Promise<OpenUpload> {
  const { path, size, content_type } = wanted;
  const { store, project, server, caller, now } = context;
  const open = (await store.uploads.atPath(path)).filter((one) => one.expires_at > now);
  if (open.length >= UPLOADS_PER_PATH) {
    const first = Math.min(...open.map((one) => one.expires_at));
    const retry_after = Math.ceil((first - now) / 1000);
    const details = { limit: UPLOADS_PER_PATH, used: open.length, retry_after };
    throw new ServiceError('UPLOAD_LIMIT', { details });
  }
  await freeSpace(context, { keys: 0, bytes: size });
  const id = direct?.id ?? context.newId('upl');
  const token = newToken(project.id);
  const expiresAt = now + UPLOAD_MS;
  const row = {
    id,
    path,
    size_bytes: size,
    content_type,
    digest: null,
    expires_at: expiresAt,
    key_id: caller.keyId,
  };
  await store.uploads.insert(row, hash('sha256', token));
  await store.disk.add('upload_bytes', size);
  context.emit({ kind: 'due', at: expiresAt });
  return {
    status: 'uploading',
    upload_id: id,
    upload_url: direct?.url ?? `${server.urls.api}/u/${token}`,
    upload_headers: direct?.headers ?? {
      'Content-Type': content_type,
      'Content-Length': String(size),
    },
    expires_at: isoTime(expiresAt),
  };
}

/**
 * Makes the file of an upload. NOT_FOUND if the upload expired or was dropped, UPLOAD_INCOMPLETE if its bytes are
 * missing.
 */
export async function completeUpload(
  context: WriteContext,
  path: string,
  uploadId: string,
): Promise<FileRow> {
  const upload = await context.store.uploads.find(uploadId);
  if (!upload || upload.path !== path || upload.expires_at <= context.now) {
    throw new ServiceError('NOT_FOUND', {
      hint: `No upload ${uploadId} in this project for this path: it was dropped or has expired.`,
    });
  }
  const { digest, size_bytes, content_type } = upload;
  if (digest === null) {
    const details = {
      upload_id: uploadId,
      size: size_bytes,
      expires_at: isoTime(upload.expires_at),
    };
    throw new ServiceError('UPLOAD_INCOMPLETE', { details });
  }
  return saveFile(context, { path, digest, size_bytes, content_type }, upload);
}
