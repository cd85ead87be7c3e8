import * as z from 'zod';
import { defineOperation } from '../../kernel/operation.ts';
import { MakerNames } from '../access/maker.ts';
import { noCursor } from '../fields.ts';
import { memberBehind } from './of-key.ts';
import { memberView, toMemberView } from './view.ts';

export const memberList = defineOperation({
  name: 'member_list',
  summary: 'List the people who share the project.',
  description:
    'Keys with `admin` or `approvals` see everyone, owners first; other keys see only the member they belong to. Addresses are masked.',
  scope: 'any',
  input: z.strictObject({}),
  output: z.object({
    items: z.array(memberView).describe('Owners first.'),
    next_cursor: noCursor('a project has few members'),
  }),
  errors: [],
  effect: 'read',
  replica: 'local',
  rest: { method: 'GET', path: '/v1/members' },
  mcp: false,
  cli: {
    usage: 'member list',
    examples: ['member list'],
    columns: ['id', 'address', 'role', 'status', 'joined_at', 'inviter'],
  },
  example: {},
}).read(async (context) => {
  const { store, caller } = context;
  const names = new MakerNames(context);
  const seesAll = caller.scopes.includes('admin') || caller.scopes.includes('approvals');
  const own = seesAll ? undefined : await memberBehind(store, caller);
  const rows = seesAll ? await store.members.list() : own ? [own] : [];
  const ofOwners = rows.filter(({ role }) => role === 'owner');
  const ofOthers = rows.filter(({ role }) => role !== 'owner');
  const items = [];
  for (const row of [...ofOwners, ...ofOthers]) items.push(await toMemberView(row, names));
  return { items, next_cursor: null };
});
