import * as z from 'zod';
import { decodeTextCursor, encodeCursor } from '../../lib/cursor.ts';
import { pageOfPrefixes, scannedPrefixes } from '../../kernel/disk-limit.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { pathOf, pathProblem } from '../../rules/disk/disk-name.ts';
import { prefixField } from '../disk-fields.ts';
import { listCursor, listLimit, nextCursor } from '../fields.ts';
import { attachmentsBelow } from './find.ts';
import { fileView, toFileView } from './view.ts';

export const fileList = defineOperation({
  name: 'file_list',
  summary: 'List files in byte order of their paths.',
  description: 'The prefix `evt_…/` lists the attachments of a mail.',
  scope: 'disk',
  disk: { field: 'prefix', kind: 'path', isPrefix: true },
  input: z.strictObject({
    prefix: prefixField('paths').transform(pathOf),
    cursor: listCursor,
    limit: listLimit,
  }),
  output: z.object({
    items: z.array(fileView).describe('In byte order of their paths.'),
    next_cursor: nextCursor,
  }),
  errors: [],
  effect: 'read',
  replica: 'local',
  rest: { method: 'GET', path: '/v1/files' },
  mcp: { title: 'List files', openWorld: true, untrusted: 'files' },
  cli: {
    usage: 'file list [prefix]',
    examples: ['file list', 'file list reports/ --limit 100'],
    columns: ['path', 'size_bytes', 'content_type', 'updated_at'],
  },
  example: { prefix: 'example/', limit: 10 },
}).read(async ({ caller, store, now }, { prefix, cursor, limit }) => {
  const after = decodeTextCursor(cursor, pathProblem);
  const attached = await attachmentsBelow({ store, now }, prefix);
  const rows =
    attached?.filter(({ path }) => isBehind(path, after)).slice(0, limit + 1) ??
    (await pageOfPrefixes(
      scannedPrefixes(caller, 'path', prefix),
      { after, limit: limit + 1 },
      (range) => store.files.page(range),
    ));
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return {
    items: shown.map(toFileView),
    next_cursor: rows.length > limit && last ? encodeCursor(last.path) : null,
  };
});

/** Compares bytes, because JavaScript's string order (UTF-16 code units) is different. */
function isBehind(path: string, after: string | undefined): boolean {
  return after === undefined || Buffer.compare(Buffer.from(path), Buffer.from(after)) > 0;
}
