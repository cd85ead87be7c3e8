import * as z from 'zod';
import type { PrepareContext, WriteContext } from '../../kernel/context.ts';
import { ServiceError } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { FILE_INLINE_MAX_BYTES, FILE_MAX_BYTES } from '../../lib/limits.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { isReservedPath } from '../../rules/disk/disk-name.ts';
import { filePath, refuseOtherVersion, writeCondition } from '../disk-fields.ts';
import { contentType, fileContent, textContent } from './content.ts';
import { saveFile } from './save.ts';
import { completeUpload, openUpload, type DirectUpload } from './upload.ts';
import { fileView, toFileView } from './view.ts';

const TYPE_DEFAULT = 'application/octet-stream';
const TEXT_TYPE_DEFAULT = 'text/plain; charset=utf-8';
const WAYS = ['content', 'content_base64', 'upload', 'complete'] as const;

const input = z
  .strictObject({
    path: filePath,
    content: textContent.optional(),
    content_base64: fileContent.optional(),
    content_type: contentType
      .optional()
      .describe(
        'Media type (default: `text/plain` for `content`, else `application/octet-stream`).',
      ),
    upload: z
      .strictObject({
        size: z.int().min(0).max(FILE_MAX_BYTES).describe('Exact size in bytes.'),
        content_type: contentType.default(TYPE_DEFAULT).describe('Its media type.'),
      })
      .optional()
      .describe('Get a URL to PUT up to 100 MB to.'),
    complete: z
      .string()
      .regex(/^upl_[0-9a-z]{26}$/, 'Expected an upload id such as `upl_01j…`.')
      .optional()
      .describe("The upload_id, once you've sent the bytes."),
    ...writeCondition,
  })
  .superRefine((value, context) => {
    const given = WAYS.filter((way) => value[way] !== undefined);
    const complain = (path: string, message: string): void => {
      context.issues.push({ code: 'custom', path: [path], input: undefined, message });
    };
    if (given.length !== 1) {
      complain(given[1] ?? 'content_base64', `Give exactly one of ${WAYS.join(', ')}.`);
    }
    const isDirect = value.content !== undefined || value.content_base64 !== undefined;
    if (value.content_type !== undefined && !isDirect) {
      complain(
        'content_type',
        'Use it only with content or content_base64; an upload has its own.',
      );
    }
    for (const name of ['if_version', 'if_exists'] as const) {
      if (value[name] === undefined || value.upload === undefined) continue;
      complain(name, 'Opening an upload saves nothing: pass it with `complete`.');
    }
  });

const output = fileView.partial().extend({
  status: z.literal('uploading').optional().describe('Only when an upload was opened.'),
  upload_id: z.string().optional().describe('Pass it as `complete`.'),
  upload_url: z.string().optional().describe('PUT the bytes here; no key needed.'),
  upload_headers: z
    .record(z.string(), z.string())
    .optional()
    .describe('Send exactly these headers.'),
  expires_at: z.string().optional().describe('When the upload ends.'),
});

export const filePut = defineOperation({
  name: 'file_put',
  summary: 'Save a file, or open or complete an upload.',
  description:
    'Up to 1 MB: pass `content_base64`, or text as `content`. Up to 100 MB: call with `upload`, PUT the bytes to upload_url with exactly upload_headers within 15 minutes, then call with `complete`. Saving replaces any file at the path and ends its links; until then the old file stays.',
  scope: 'disk',
  disk: { field: 'path', kind: 'path' },
  input,
  output,
  brief: ({ content, content_base64, ...value }) => ({
    ...value,
    ...(content && { content: { ...content, bytes: null } }),
    ...(content_base64 && { content_base64: { ...content_base64, bytes: null } }),
  }),
  errors: [
    'PATH_RESERVED',
    'QUOTA_EXCEEDED',
    'PRECONDITION_FAILED',
    'PAYLOAD_TOO_LARGE',
    'UPLOAD_LIMIT',
    'UPLOAD_INCOMPLETE',
    'NOT_FOUND',
  ],
  effect: 'write',
  replica: 'upstream',
  rest: {
    method: 'PUT',
    path: '/v1/files/{path+}',
    body: {
      field: 'content_base64',
      as: 'bytes',
      typeField: 'content_type',
      query: ['if_version', 'if_exists'],
      objectType: 'application/vnd.service.upload+json',
    },
    bodyMaxBytes: FILE_INLINE_MAX_BYTES,
    versioned: true,
  },
  mcp: { title: 'Save a file', destructive: true, without: ['if_exists'] },
  cli: {
    usage: 'file put <path>',
    examples: ['file put report.pdf', 'file put report.pdf reports/may.pdf', 'file put - log.txt'],
  },
  subject: (value) => value.path,
  example: {
    path: 'example/hello.txt',
    content_base64: 'aGVsbG8K',
    content_type: 'text/plain',
  },
}).write({
  prepare: (context, value) => prepare(context, value),
  commit: (context, value, direct) => store(context, value, direct),
});

async function prepare(
  { blobs, directUploads, now, finally: atEnd }: PrepareContext,
  { path, content: text, content_base64, upload, complete }: z.output<typeof input>,
): Promise<DirectUpload | null> {
  const content = text ?? content_base64;
  if (isReservedPath(path)) return null;
  if (upload && directUploads) {
    const id = newId('upl', now);
    const address = { id, size: upload.size, contentType: upload.content_type };
    return { id, ...(await directUploads.address(address)) };
  }
  if (complete !== undefined) await directUploads?.collect(complete);
  if (content?.bytes) {
    // Store and pin the bytes before a row may refer to them.
    const { release } = await blobs.put(content.bytes, content.sha256);
    atEnd(release);
  }
  return null;
}

async function store(
  context: WriteContext,
  value: z.output<typeof input>,
  direct: DirectUpload | null,
): Promise<z.input<typeof output>> {
  const { path, content_type, upload, complete } = value;
  const content = value.content ?? value.content_base64;
  if (isReservedPath(path)) throw new ServiceError('PATH_RESERVED');
  if (upload) return openUpload(context, { path, ...upload }, direct);
  const { files } = context.store;
  // An earlier call completed this upload and its answer may be lost, so answer again without checking the version.
  const made = complete === undefined ? undefined : await files.findUploaded(path, complete);
  if (made) return toFileView(made);
  refuseOtherVersion(value, (await files.find(path)) ?? null);
  if (complete !== undefined) return toFileView(await completeUpload(context, path, complete));
  if (!content) throw new Error('Validation lets nothing else pass.');
  const file = {
    path,
    digest: content.sha256,
    size_bytes: content.sizeBytes,
    content_type: content_type ?? (value.content ? TEXT_TYPE_DEFAULT : TYPE_DEFAULT),
  };
  return toFileView(await saveFile(context, file, null));
}
