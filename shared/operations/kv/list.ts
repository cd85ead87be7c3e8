import * as z from 'zod';
import { isoTime } from '../../lib/clock.ts';
import { decodeTextCursor, encodeCursor } from '../../lib/cursor.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { keyProblem } from '../../rules/disk-name.ts';
import { prefixField } from '../disk-fields.ts';
import { listCursor, listLimit } from '../fields.ts';

export const kvList = defineOperation({
  name: 'kv_list',
  summary: 'List keys in byte order, without their values.',
  description: 'Leaves out expired keys.',
  scope: 'disk',
  input: z.strictObject({ prefix: prefixField('keys'), cursor: listCursor, limit: listLimit }),
  output: z.object({
    items: z.array(
      z.object({
        key: z.string(),
        size_bytes: z.int(),
        expires_at: z.string().nullable(),
        updated_at: z.string(),
        version: z.int(),
      }),
    ),
    next_cursor: z.string().nullable(),
  }),
  errors: [],
  effect: 'read',
  replica: 'local',
  rest: { method: 'GET', path: '/v1/kv' },
  mcp: { title: 'List keys' },
  cli: {
    usage: 'kv list [prefix]',
    examples: ['kv list', 'kv list example/ --limit 100'],
    columns: ['key', 'size_bytes', 'updated_at', 'expires_at', 'version'],
  },
  example: { prefix: 'example/', limit: 10 },
}).read(async ({ store, now }, { prefix, cursor, limit }) => {
  const after = decodeTextCursor(cursor, keyProblem);
  const rows = await store.kv.page({ prefix, after, limit: limit + 1 }, now);
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return {
    items: shown.map(({ key, size_bytes, expires_at, updated_at, version }) => ({
      key,
      size_bytes,
      expires_at: expires_at === null ? null : isoTime(expires_at),
      updated_at,
      version,
    })),
    next_cursor: rows.length > limit && last ? encodeCursor(last.key) : null,
  };
});
