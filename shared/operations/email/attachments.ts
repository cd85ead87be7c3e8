import { invalid, type FieldProblem } from '../../errors.ts';
import { EMAIL_ATTACHMENTS_MAX_BYTES } from '../../limits.ts';
import type { Repositories } from '../../store/repositories.ts';
import { findFile } from '../file/find.ts';

/** A file as it was when the mail was asked for: what a person approves is what is sent. */
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

/** The files behind the paths. VALIDATION_FAILED names those that are not there, or says that it is all too much. */
export async function findAttachments(
  store: Repositories,
  paths: readonly string[],
): Promise<StoredAttachment[]> {
  const problems: FieldProblem[] = [];
  const found: StoredAttachment[] = [];
  for (const [index, path] of paths.entries()) {
    const file = await findFile(store, path);
    if (!file) problems.push({ path: `attachments[${index}]`, message: 'There is no such file.' });
    else {
      const { digest, size_bytes, content_type } = file;
      const name = path.slice(path.lastIndexOf('/') + 1);
      found.push({ path, name, content_type, size_bytes, digest });
    }
  }
  const total = found.reduce((sum, { size_bytes }) => sum + size_bytes, 0);
  if (total > EMAIL_ATTACHMENTS_MAX_BYTES) {
    problems.push({ path: 'attachments', message: `They have ${total} bytes; at most 10 MB go.` });
  }
  if (problems.length > 0) throw invalid(...problems);
  return found;
}
