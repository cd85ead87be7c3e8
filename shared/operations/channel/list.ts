import * as z from 'zod';
import { defineOperation } from '../../kernel/operation.ts';
import { MakerNames } from '../access/maker.ts';
import { noCursor } from '../fields.ts';
import { channelView, toChannelView } from './view.ts';

export const channelList = defineOperation({
  name: 'channel_list',
  summary: 'List the people agents can ask.',
  description: 'Lists the owner first. Agents can ask only active channels. Addresses are masked.',
  scope: 'approvals',
  input: z.strictObject({}),
  output: z.object({
    items: z.array(channelView).describe("The owner's channel first."),
    next_cursor: noCursor('the list has one page'),
  }),
  errors: [],
  effect: 'read',
  replica: 'local',
  rest: { method: 'GET', path: '/v1/channels' },
  mcp: { title: 'List people to ask' },
  cli: {
    usage: 'channel list',
    examples: ['channel list'],
    columns: ['id', 'kind', 'label', 'address', 'status', 'owner', 'maker'],
  },
  example: {},
}).read(async (context) => {
  const names = new MakerNames(context);
  const items = [];
  for (const row of await context.store.channels.list())
    items.push(await toChannelView(row, names));
  return { items, next_cursor: null };
});
