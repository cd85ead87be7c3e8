import * as z from 'zod';
import { defineOperation } from '../../kernel/operation.ts';
import { sourceName } from '../fields.ts';
import { sourceNamed } from './named.ts';
import { sourceWithActivity, toSourceWithActivity } from './view.ts';

export const sourceGet = defineOperation({
  name: 'source_get',
  summary: 'Show one source and its last delivery.',
  description: 'The fields of source_list, for one source.',
  scope: 'admin',
  input: z.strictObject({ name: sourceName }),
  output: sourceWithActivity,
  errors: ['NOT_FOUND'],
  effect: 'read',
  replica: 'upstream',
  rest: { method: 'GET', path: '/v1/sources/{name}' },
  mcp: false,
  cli: {
    usage: 'source get <name>',
    examples: ['source get github'],
  },
  example: { name: 'github' },
}).read(async (context, { name }) => {
  const { store } = context;
  const row = await sourceNamed(store, name);
  return toSourceWithActivity(row, context);
});
