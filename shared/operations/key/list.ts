import * as z from 'zod';
import { decodeIdCursor, encodeCursor } from '../../lib/cursor.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { listCursor, listLimit, nextCursor } from '../fields.ts';
import { MakerNames } from '../access/maker.ts';
import { keyView, toKeyView } from './view.ts';

export const keyList = defineOperation({
  name: 'key_list',
  summary: "List the project's keys.",
  description:
    'An admin key sees every key, with who made it and the last four characters of its secret. Other keys see only themselves.',
  scope: 'any',
  input: z.strictObject({ cursor: listCursor, limit: listLimit }),
  output: z.object({ items: z.array(keyView).describe('Oldest first.'), next_cursor: nextCursor }),
  errors: [],
  effect: 'read',
  replica: 'local',
  rest: { method: 'GET', path: '/v1/keys' },
  mcp: false,
  cli: {
    usage: 'key list',
    examples: ['key list'],
  },
  example: {},
}).read(async (context, { cursor, limit }) => {
  const { caller, store, now } = context;
  const seen = { names: new MakerNames(context), now };
  const after = decodeIdCursor(cursor, /^key_[0-9a-z]{26}$/);
  if (!caller.scopes.includes('admin')) {
    const own = await store.keys.find(caller.keyId);
    return { items: own ? [await toKeyView(own, seen)] : [], next_cursor: null };
  }
  const rows = await store.keys.page(after, limit + 1);
  const items = [];
  for (const row of rows.slice(0, limit)) items.push(await toKeyView(row, seen));
  const last = items.at(-1);
  return { items, next_cursor: rows.length > limit && last ? encodeCursor(last.id) : null };
});
