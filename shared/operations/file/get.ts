import { isUtf8 } from 'node:buffer';
import * as z from 'zod';
import { isoTime } from '../../lib/clock.ts';
import type { LongContext } from '../../kernel/context.ts';
import { invalid, notFound } from '../../lib/errors.ts';
import { DOWNLOAD_LINK_SECONDS, FILE_INLINE_MAX_BYTES } from '../../lib/limits.ts';
import { fileDownloadLink } from '../../kernel/links.ts';
import { defineOperation } from '../../kernel/operation.ts';
import type { FileRow } from '../../store/tables/disk/files.ts';
import { filePath } from '../disk-fields.ts';
import { findFile } from './find.ts';
import { fileView, toFileView } from './view.ts';

export const fileGet = defineOperation({
  name: 'file_get',
  summary: 'Read a file, or get a link to a large one.',
  description:
    'The path `evt_…/name` is an attachment of a mail. Files up to 1 MB come in content_base64, or in content with `as` text. For larger files, download_url is a link that works without a key for 5 minutes.',
  scope: 'disk',
  disk: { field: 'path', kind: 'path' },
  input: z.strictObject({
    path: filePath,
    as: z
      .enum(['base64', 'text'])
      .default('base64')
      .describe('`text`: answer UTF-8 text in content.'),
  }),
  output: fileView.extend({
    content_base64: z.string().optional().describe('The bytes, up to 1 MB.'),
    content: z.string().optional().describe('The text, up to 1 MB, if it was asked for.'),
    download_url: z
      .string()
      .optional()
      .describe('Above 1 MB: a link to the bytes, valid for 5 minutes without a key.'),
    expires_at: z.string().optional().describe('When the link ends.'),
  }),
  errors: ['NOT_FOUND'],
  effect: 'read',
  replica: 'upstream',
  rest: { method: 'GET', path: '/v1/files/{path+}', versioned: true },
  mcp: { title: 'Read a file', openWorld: true, untrusted: 'file' },
  cli: { usage: 'file get <path>', examples: ['file get reports/may.pdf', 'file get log.txt -'] },
  example: { path: 'example/hello.txt' },
}).long(async (context, { path, as }) => {
  const { vault, server, project, caller, now } = context;
  const { row, bytes } = await find(context, path);
  const view = toFileView(row);
  if (bytes && as === 'text') return { ...view, content: textOf(bytes) };
  if (bytes) return { ...view, content_base64: Buffer.from(bytes).toString('base64') };
  const terms = { holder: caller.keyId, expiresAtMs: now + DOWNLOAD_LINK_SECONDS * 1000 };
  const { version } = row;
  return {
    ...view,
    download_url: fileDownloadLink({ vault, server }, project.id, { path, version }, terms),
    expires_at: isoTime(terms.expiresAtMs),
  };
});

function textOf(bytes: Uint8Array): string {
  if (isUtf8(bytes)) return Buffer.from(bytes).toString('utf8');
  throw invalid({ path: 'as', message: "The file isn't UTF-8 text: read it as `base64`." });
}

/** A file, with its bytes if it is small. NOT_FOUND. */
async function find(
  { read, blobs, now }: LongContext,
  path: string,
): Promise<{ row: FileRow; bytes: Uint8Array | null }> {
  for (;;) {
    const row = await read((store) => findFile({ store, now }, path));
    if (!row) throw notFound(`file ${JSON.stringify(path)}`);
    if (row.size_bytes > FILE_INLINE_MAX_BYTES) return { row, bytes: null };
    try {
      return { row, bytes: await blobs.read(row.digest) };
    } catch (error) {
      // Another call may have replaced or deleted the file, and so its bytes, between the two reads.
      const again = await read((store) => findFile({ store, now }, path));
      if (again?.version === row.version) throw error;
    }
  }
}
