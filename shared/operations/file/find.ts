import { ATTACHMENT_VERSION } from '../../kernel/links.ts';
import type { FileRow } from '../../store/tables/disk/files.ts';
import type { Repositories } from '../../store/repositories.ts';

const ATTACHMENT = /^(evt_[0-9a-z]{26})\/([^/]*)$/;

interface FileContext {
  readonly store: Repositories;
  readonly now: number;
}

/** A file on the disk, or a mail attachment as `evt_…/name`. */
export async function findFile(
  { store, now }: FileContext,
  path: string,
): Promise<FileRow | undefined> {
  const [, eventId, name] = ATTACHMENT.exec(path) ?? [];
  if (eventId === undefined || !name) return store.files.find(path);
  const found = await store.eventFiles.find(eventId, name, now);
  return found && asFile(path, found);
}

/**
 * The attachments whose paths start with the prefix, sorted by path; null if the prefix isn't an attachment path. A
 * mail has about 100 at most.
 */
export async function attachmentsBelow(
  { store, now }: FileContext,
  prefix: string,
): Promise<FileRow[] | null> {
  const [, eventId, begin = ''] = ATTACHMENT.exec(prefix) ?? [];
  if (eventId === undefined) return null;
  const found = await store.eventFiles.list(eventId, now);
  return found
    .filter(({ name }) => name.startsWith(begin))
    .map((file) => asFile(`${eventId}/${file.name}`, file));
}

interface AttachmentRow {
  readonly digest: string;
  readonly size_bytes: number;
  readonly content_type: string;
  readonly received_at: string;
}

function asFile(
  path: string,
  { digest, size_bytes, content_type, received_at }: AttachmentRow,
): FileRow {
  return {
    path,
    digest,
    size_bytes,
    content_type,
    version: ATTACHMENT_VERSION,
    updated_at: received_at,
  };
}
