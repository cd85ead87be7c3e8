import * as z from 'zod';
import { notFound, scopeMissing } from '../../lib/errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { madeParts } from '../access/made.ts';
import { MakerNames } from '../access/maker.ts';
import { leftThing, madeThing, toMadeThing } from '../access/view.ts';
import { keyId, keyView, toKeyView } from './view.ts';

export const keyGet = defineOperation({
  name: 'key_get',
  summary: 'Show a key and what it made.',
  description:
    'What it made counts through all generations: what the keys made that it made, too. It needs `admin`, except for the key itself.',
  scope: 'any',
  input: z.strictObject({ key_id: keyId }),
  output: keyView.extend({
    ends: z.array(madeThing).describe('What key_revoke ends with it.'),
    stays: z.array(leftThing).describe('What goes on, each with how to end it.'),
  }),
  errors: ['NOT_FOUND', 'SCOPE_MISSING'],
  effect: 'read',
  replica: 'local',
  rest: { method: 'GET', path: '/v1/keys/{id}', params: { id: 'key_id' } },
  mcp: false,
  cli: { usage: 'key get <key_id>', examples: ['key get key_01j9z3k4m5n6p7q8r9s0t1v2w3'] },
  example: { key_id: 'key_01j9z3k4m5n6p7q8r9s0t1v2w3' },
}).read(async (context, { key_id }) => {
  const { caller, store, now } = context;
  if (key_id !== caller.keyId && !caller.scopes.includes('admin')) throw scopeMissing('admin');
  const key = await store.keys.find(key_id);
  if (!key) throw notFound(`key ${key_id}`);
  const { ending, staying } = await madeParts(context, [key_id]);
  return {
    ...(await toKeyView(key, { names: new MakerNames(context), now })),
    ends: ending.map(toMadeThing),
    stays: [...staying],
  };
});
