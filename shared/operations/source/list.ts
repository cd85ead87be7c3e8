import * as z from 'zod';
import { defineOperation } from '../../kernel/operation.ts';
import { MakerNames } from '../access/maker.ts';
import { noCursor } from '../fields.ts';
import { sourceWithActivity, toSourceWithActivity } from './view.ts';

export const sourceList = defineOperation({
  name: 'source_list',
  summary: 'List active sources and their addresses.',
  description:
    'Each has its URL, its last delivery, and the deliveries accepted and refused in 24 hours.',
  scope: 'admin',
  input: z.strictObject({}),
  output: z.object({
    items: z.array(sourceWithActivity).describe('Oldest first.'),
    next_cursor: noCursor('the list has one page'),
  }),
  errors: [],
  effect: 'read',
  replica: 'upstream',
  rest: { method: 'GET', path: '/v1/sources' },
  mcp: { title: 'List sources' },
  cli: {
    usage: 'source list',
    examples: ['source list'],
  },
  example: {},
}).read(async (context) => {
  const { store } = context;
  const names = new MakerNames(context);
  const items = [];
  for (const row of await store.sources.list()) {
    items.push(await toSourceWithActivity(row, context, names));
  }
  return { items, next_cursor: null };
});
