import { invalid, type FieldProblem } from '../../lib/errors.ts';
import { EMAIL_ATTACHMENTS_MAX_BYTES } from '../../lib/limits.ts';
import type { Repositories } from '../../store/repositories.ts';
import { findFile } from '../file/find.ts';

/** A file as it was when the agent asked to send the mail, so that we send exactly what the person approves. */
export interface StoredAttachment {
  readonly path: string;
  readonly name: string;
  readonly content_type: string;
  readonly size_bytes: number;
  /** SHA-256 in hex. */
  readonly digest: string;
}

/** The attachments of a stored batch. */
export function attachmentsOf(batch: { readonly attachments: string }): StoredAttachment[] {
  return JSON.parse(batch.attachments) as StoredAttachment[];
}

/**
 * Finds the files at these paths. VALIDATION_FAILED names the missing ones, or says that they are too large together.
 */
export async function findAttachments(
  context: { readonly store: Repositories; readonly now: number },
  paths: readonly string[],
): Promise<StoredAttachment[]> {
  const problems: FieldProblem[] = [];
  const found: StoredAttachment[] = [];
  for (const [index, path] of paths.entries()) {
    const file = await findFile(context, path);
    if (!file) problems.push({ path: `attachments[${index}]`, message: missing(path) });
    else {
      const { digest, size_bytes, content_type } = file;
      const name = path.slice(path.lastIndexOf('/') + 1);
      found.push({ path, name, content_type, size_bytes, digest });
    }
  }
  const total = found.reduce((sum, { size_bytes }) => sum + size_bytes, 0);
  if (total > EMAIL_ATTACHMENTS_MAX_BYTES) {
    problems.push({ path: 'attachments', message: tooLarge(total) });
  }
  if (problems.length > 0) throw invalid(...problems);
  return found;
}

/** The most common mistake is a path on the caller's own machine. */
function missing(path: string): string {
  return path.startsWith('evt_')
    ? "This mail has no such attachment, or the service didn't keep it."
    : "The project's disk has no such file. Save it first with file_put.";
}

function tooLarge(total: number): string {
  return `The attachments total ${total} bytes; the limit is ${EMAIL_ATTACHMENTS_MAX_BYTES} (10 MB) per mail.`;
}
