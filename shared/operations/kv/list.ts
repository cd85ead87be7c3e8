import * as z from 'zod';
import { named } from '../../kernel/schema-names.ts';
import { decodeTextCursor, encodeCursor } from '../../lib/cursor.ts';
import { KV_PAGE_VALUES_BYTES } from '../../lib/limits.ts';
import { pageOfPrefixes, scannedPrefixes } from '../../kernel/disk-limit.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { keyProblem } from '../../rules/disk/disk-name.ts';
import type { KvHead } from '../../store/tables/disk/kv.ts';
import type { Repositories } from '../../store/repositories.ts';
import { prefixField } from '../disk-fields.ts';
import { listCursor, listLimit, nextCursor } from '../fields.ts';
import { kvHead, toHead, valueOf } from './view.ts';

const kvKey = named(
  'KvKey',
  kvHead
    .extend({
      value: z.unknown().optional().describe('The stored JSON, if `values` was asked for.'),
    })
    .describe('A key; with its value only if asked for.'),
);

export const kvList = defineOperation({
  name: 'kv_list',
  summary: 'List keys in byte order.',
  description: 'Leaves out expired keys.',
  scope: 'disk',
  disk: { field: 'prefix', kind: 'key', isPrefix: true },
  input: z.strictObject({
    prefix: prefixField('keys'),
    values: z
      .boolean()
      .default(false)
      .describe('Return values too; a page then ends before they pass 1 MB.'),
    cursor: listCursor,
    limit: listLimit,
  }),
  output: z.object({
    items: z.array(kvKey).describe('In byte order.'),
    next_cursor: nextCursor,
  }),
  errors: [],
  effect: 'read',
  replica: 'local',
  rest: { method: 'GET', path: '/v1/kv' },
  mcp: { title: 'List keys', without: ['values'] },
  cli: {
    usage: 'kv list [prefix]',
    examples: ['kv list', 'kv list example/ --limit 100', 'kv list example/ --values --json'],
    columns: ['key', 'size_bytes', 'updated_at', 'expires_at', 'version'],
  },
  example: { prefix: 'example/', limit: 10 },
}).read(async ({ caller, store, now }, { prefix, values, cursor, limit }) => {
  const after = decodeTextCursor(cursor, keyProblem);
  const rows = await pageOfPrefixes(
    scannedPrefixes(caller, 'key', prefix),
    { after, limit: limit + 1 },
    (range) => store.kv.page(range, now),
  );
  const page = rows.slice(0, limit);
  const shown = values ? fitting(page) : page;
  const last = shown.at(-1);
  return {
    items: values ? await withValues(store, shown, now) : shown.map(toHead),
    next_cursor: rows.length > shown.length && last ? encodeCursor(last.key) : null,
  };
});

/** The first keys whose values fit into a page; at least one. */
function fitting(rows: readonly KvHead[]): readonly KvHead[] {
  let bytes = 0;
  const end = rows.findIndex(({ size_bytes }) => (bytes += size_bytes) > KV_PAGE_VALUES_BYTES);
  return end === -1 ? rows : rows.slice(0, Math.max(1, end));
}

async function withValues(store: Repositories, heads: readonly KvHead[], now: number) {
  const items: z.infer<typeof kvKey>[] = [];
  for (const head of heads) {
    const row = await store.kv.find(head.key, now);
    if (row) items.push({ ...toHead(row), value: valueOf(row) });
  }
  return items;
}
