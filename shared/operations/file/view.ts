import * as z from 'zod';
import { named } from '../../kernel/schema-names.ts';
import { referenceTo } from '../../rules/disk-name.ts';
import type { FileRow } from '../../store/files.ts';

/** A file as callers see it, without its bytes. `sha256` and `version` are additions to the specified fields. */
export const fileView = named(
  'File',
  z.object({
    path: z.string(),
    ref: z.string(),
    size_bytes: z.int(),
    content_type: z.string(),
    updated_at: z.string(),
    sha256: z.string(),
    version: z.int(),
  }),
);

export function toFileView(row: FileRow): z.infer<typeof fileView> {
  const { path, digest, size_bytes, content_type, updated_at, version } = row;
  return {
    path,
    ref: referenceTo(path),
    size_bytes,
    content_type,
    updated_at,
    sha256: digest,
    version,
  };
}
