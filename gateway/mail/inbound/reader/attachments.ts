import { createHash } from 'node:crypto';
import type { Attachment } from 'postal-mime';
import type { BlockedFile, MailFile } from '../read-mail.ts';
import { MAIL_MAX_BYTES } from './limits.ts';
import { FileNames } from './file-names.ts';
import { dangerOf } from './dangerous-attachments.ts';
import { messageIds } from './headers.ts';

const FILES_MAX = 100;
/** How many attachments are listed at all; those after the first `FILES_MAX` files are blocked. */
const NAMED_MAX = 200;
const CONTENT_TYPE = /^[a-z0-9][\w.+-]{0,63}\/[a-z0-9][\w.+-]{0,126}$/;

export interface Files {
  readonly files: readonly MailFile[];
  readonly blocked: readonly BlockedFile[];
}

/** The whole mail as a file, for programs that can read more of it than we do. */
const WHOLE_NAME = 'message.eml';
const WHOLE_TYPE = 'message/rfc822';

/** A mail's attachments, with the mail itself in front if `whole` is given. */
export function filesOf(attachments: readonly Attachment[], whole: WholeMail | null): Files {
  const names = new FileNames();
  const first = whole === null ? { files: [], blocked: [] } : wholeFile(whole, names);
  const files: MailFile[] = [...first.files];
  const blocked: BlockedFile[] = [...first.blocked];
  for (const attachment of attachments.slice(0, NAMED_MAX)) {
    const content_type = contentTypeOf(attachment);
    const name = names.next(attachment.filename, content_type);
    const bytes = bytesOf(attachment);
    const reason = blockReason(name, bytes, files.length);
    if (reason !== null) {
      blocked.push({ name, content_type, size_bytes: bytes.length, reason });
      continue;
    }
    const content_id = messageIds(attachment.contentId ?? '')[0] ?? null;
    const inline = attachment.disposition === 'inline' || attachment.related === true;
    files.push({ name, content_type, content_id, inline, sha256: sha256(bytes), bytes });
  }
  return { files, blocked };
}

interface WholeMail {
  /** Null if we have only its headers. */
  readonly bytes: Buffer | null;
  readonly sizeBytes: number;
}

function wholeFile({ bytes, sizeBytes }: WholeMail, names: FileNames): Files {
  const name = names.next(WHOLE_NAME, WHOLE_TYPE);
  if (bytes === null || bytes.length > MAIL_MAX_BYTES) {
    const reason = 'too_large';
    return {
      files: [],
      blocked: [{ name, content_type: WHOLE_TYPE, size_bytes: sizeBytes, reason }],
    };
  }
  const known = { content_id: null, inline: false, sha256: sha256(bytes) };
  return { files: [{ name, content_type: WHOLE_TYPE, ...known, bytes }], blocked: [] };
}

function blockReason(name: string, bytes: Buffer, count: number): BlockedFile['reason'] | null {
  if (count >= FILES_MAX) return 'too_many';
  if (bytes.length > MAIL_MAX_BYTES) return 'too_large';
  return dangerOf(name, bytes);
}

/** The decoded bytes of a part. */
export function bytesOf({ content }: Attachment): Buffer {
  if (typeof content === 'string') return Buffer.from(content);
  return content instanceof ArrayBuffer
    ? Buffer.from(content)
    : Buffer.from(content.buffer, content.byteOffset, content.byteLength);
}

function contentTypeOf({ mimeType }: Attachment): string {
  const type = mimeType.trim().toLowerCase();
  return CONTENT_TYPE.test(type) ? type : 'application/octet-stream';
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
