import * as z from 'zod';
import { named } from '../../kernel/schema-names.ts';
import { referenceTo } from '../../rules/disk/disk-name.ts';
import type { FileRow } from '../../store/tables/disk/files.ts';

/** A file as callers see it, without its bytes. `sha256` and `version` are additions to the specified fields. */
export const fileView = named(
  'File',
  z
    .object({
      path: z.string().describe('Where it is stored.'),
      ref: z.string().describe('`disk://…`, accepted wherever a path is.'),
      size_bytes: z.int().describe('Size of the file.'),
      content_type: z.string().describe('Media type.'),
      updated_at: z.string().describe('When it was last written.'),
      sha256: z.string().describe('SHA-256 of the bytes, in hex.'),
      version: z.int().describe('Rises with each write; pass as `if_version`.'),
    })
    .describe('A stored file, without its bytes.'),
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
