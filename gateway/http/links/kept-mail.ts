import { closeSync } from 'node:fs';
import { openOutboxFile, outboxAttachment, outboxMessage } from '../../../shared/host/outbox.ts';
import type { Vault } from '../../../shared/kernel/context.ts';
import { isSigned, keptMailText, type KeptMailPart } from '../../../shared/kernel/links.ts';
import type { Clock } from '../../../shared/lib/clock.ts';
import { ServiceError } from '../../../shared/lib/errors.ts';
import { projectIdFromBody } from '../../../shared/lib/ids.ts';
import { attachmentHeaders } from '../../lib/attachment.ts';
import { FileBody } from '../../lib/file-body.ts';
import type { FileAnswer } from './downloads.ts';

const FILE = /^(?<messageId>[a-z]{3}_[0-9a-z]+)\/(?<part>mail|\d{1,3})$/;
/** An agent chose the type of an attachment, so browsers don't hear it. */
const ANY_BYTES = 'application/octet-stream';

interface KeptMailDeps {
  /** Where this machine keeps mail; null if it sends it. */
  readonly folder: string | null;
  readonly vault: Vault;
  readonly clock: Clock;
}

/** Serves parts of the mail that this machine keeps, by signed links that expire within minutes. */
export class KeptMail {
  readonly #deps: KeptMailDeps;

  constructor(deps: KeptMailDeps) {
    this.#deps = deps;
  }

  /**
   * Opens a download link for a whole mail or one of its files. The link has the parts of a file's link: project, path,
   * version, expiry and signature. Null if it's for something else. NOT_FOUND if it has expired or the mail is gone.
   */
  file(link: readonly string[], { head }: { readonly head: boolean }): FileAnswer | null {
    const [project = '', encoded = '', , expires = '', signature = ''] = link;
    const path = FILE.exec(Buffer.from(encoded, 'base64url').toString('utf8'))?.groups;
    if (!path) return null;
    const { messageId = '', part = '' } = path;
    const kept = { messageId, part: part === 'mail' ? part : Number(part) } as const;
    const folder = this.#opened(project, kept, expires, signature);
    if (folder === null) return null;
    return kept.part === 'mail'
      ? wholeMail(folder, messageId, head)
      : attachedFile(folder, messageId, kept.part);
  }

  /** Opens a link to a mail's HTML: project, message, expiry and signature. Null and NOT_FOUND as for `file`. */
  html(link: readonly string[]): Uint8Array | null {
    const [project = '', messageId = '', expires = '', signature = ''] = link;
    const folder = this.#opened(project, { messageId, part: 'html' }, expires, signature);
    if (folder === null) return null;
    const html = outboxMessage(folder, messageId)?.html ?? null;
    if (html === null) throw new ServiceError('NOT_FOUND');
    return Buffer.from(html);
  }

  /** The folder that the link opens; null if it isn't a link to a kept mail. */
  #opened(project: string, kept: KeptMailPart, expires: string, signature: string): string | null {
    const { folder, vault, clock } = this.#deps;
    if (folder === null) return null;
    const expiresAtMs = /^\d{1,15}$/.test(expires) ? Number(expires) : 0;
    const text = keptMailText(projectIdOf(project), kept, expiresAtMs);
    if (!isSigned(vault, text, signature)) return null;
    if (clock.now() >= expiresAtMs) throw new ServiceError('NOT_FOUND');
    return folder;
  }
}

function projectIdOf(body: string): string {
  try {
    return projectIdFromBody(body);
  } catch {
    throw new ServiceError('NOT_FOUND');
  }
}

function wholeMail(folder: string, id: string, head: boolean): FileAnswer {
  const opened = openOutboxFile(folder, id);
  if (!opened) throw new ServiceError('NOT_FOUND');
  const { file, sizeBytes } = opened;
  if (head) closeSync(file);
  const body = head ? null : new FileBody(file, { start: 0, sizeBytes }, () => undefined);
  return { status: 200, headers: headersOf(`${id}.eml`, sizeBytes), body };
}

function attachedFile(folder: string, id: string, index: number): FileAnswer {
  const found = outboxAttachment(folder, id, index);
  if (!found) throw new ServiceError('NOT_FOUND');
  const { name, bytes } = found;
  return {
    status: 200,
    headers: headersOf(name || `file-${index + 1}`, bytes.length),
    body: bytes,
  };
}

function headersOf(name: string, sizeBytes: number): Record<string, string> {
  return { ...attachmentHeaders(name, ANY_BYTES), 'Content-Length': String(sizeBytes) };
}
