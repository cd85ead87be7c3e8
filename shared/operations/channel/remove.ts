import * as z from 'zod';
import { isoTime } from '../../lib/clock.ts';
import { notFound, ServiceError } from '../../lib/errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { takeChannel } from '../member/channel.ts';
import { channelId } from '../request/fields.ts';
import { withdrawChannel } from './withdrawal.ts';

export const channelRemove = defineOperation({
  name: 'channel_remove',
  summary: 'Remove a person agents can ask.',
  description:
    "Its links and buttons stop working at once, and its pending requests go to the owner. You can't remove the owner's channel.",
  scope: 'approvals',
  input: z.strictObject({ channel_id: channelId }),
  output: z.object({
    id: z.string().describe('`chn_…`.'),
    status: z.literal('removed').describe('Its links and buttons no longer work.'),
    removed_at: z.string().describe('When it was removed.'),
  }),
  errors: ['NOT_FOUND', 'CHANNEL_OWNER_PROTECTED'],
  effect: 'write',
  replica: 'upstream',
  rest: { method: 'DELETE', path: '/v1/channels/{id}', params: { id: 'channel_id' } },
  mcp: { title: 'Remove a person to ask', destructive: true },
  cli: {
    usage: 'channel remove <channel_id>',
    examples: ['channel remove chn_01j9z3k4m5n6p7q8r9s0t1v2w3'],
  },
  subject: (input) => input.channel_id,
  example: { channel_id: 'chn_01j9z3k4m5n6p7q8r9s0t1v2w3' },
}).write({
  commit: async (context, { channel_id }) => {
    const { store, now } = context;
    const channel = await store.channels.find(channel_id);
    if (!channel) throw notFound(`channel ${channel_id}`);
    const member = await store.members.findByChannel(channel_id);
    if (channel.owner === 1 || member?.role === 'owner') {
      throw new ServiceError('CHANNEL_OWNER_PROTECTED');
    }
    if (member) await takeChannel(context, member);
    else await withdrawChannel(context, channel_id);
    return { id: channel_id, status: 'removed', removed_at: isoTime(now) };
  },
});
