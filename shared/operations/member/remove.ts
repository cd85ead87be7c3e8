import * as z from 'zod';
import { isoTime } from '../../lib/clock.ts';
import type { WriteContext } from '../../kernel/context.ts';
import { notFound, ServiceError } from '../../lib/errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import type { MemberRow } from '../../store/tables/access/members.ts';
import { resolveRequest } from '../request/resolve.ts';
import { askAboutMember } from './ask-owners.ts';
import { mayRemove, refuseLastOwner } from './authority.ts';
import { aftermathFields } from '../access/view.ts';
import { idsOf, removeMember } from './removal.ts';
import { memberId } from './view.ts';
import { withdrawChanges } from './withdrawal.ts';

export const memberRemove = defineOperation({
  name: 'member_remove',
  summary: 'Remove a member, or withdraw an invitation.',
  description:
    "Ends at once their keys, what runs under them and what they made: keys, routes, invitations, channels, pending requests; also their web sessions, links and buttons. What they were asked goes to an owner. Sources go on: `left` names those they knew. With a key, removing an owner or admin needs an owner's approval. A person may remove themselves in the web inbox; a key needs `admin`.",
  scope: 'any',
  input: z.strictObject({ member_id: memberId }),
  output: z.object({
    id: z.string().describe('The member.'),
    removed_at: z.string().nullable().describe('Null while an owner must decide first.'),
    revoked_keys: z.array(z.string()).describe('The keys that ended.'),
    removed_channels: z.array(z.string()).describe('Those that they or their keys added.'),
    ...aftermathFields,
    request_id: z.string().nullable().describe('The request that an owner decides first.'),
  }),
  errors: ['NOT_FOUND', 'SCOPE_MISSING', 'CHANNEL_OWNER_PROTECTED', 'TOO_MANY_PENDING_REQUESTS'],
  effect: 'write',
  replica: 'upstream',
  rest: { method: 'DELETE', path: '/v1/members/{id}', params: { id: 'member_id' } },
  mcp: false,
  cli: {
    usage: 'member remove <member_id>',
    examples: ['member remove mbr_01j9z3k4m5n6p7q8r9s0t1v2w3'],
  },
  subject: (input) => input.member_id,
  example: { member_id: 'mbr_01j9z3k4m5n6p7q8r9s0t1v2w3' },
}).write({
  commit: async (context, { member_id: id }) => {
    const { store, now } = context;
    const member = await store.members.find(id);
    if (!member) throw notFound(`member ${id}`);
    const isOwn = context.caller.member?.id === id;
    if (!isOwn && !context.caller.scopes.includes('admin')) {
      throw new ServiceError('SCOPE_MISSING', { details: { scope: 'admin' } });
    }
    await refuseLastOwner(context, member);
    if (!mayRemove(context, member, isOwn)) return ask(context, member);
    await withdrawChanges(context, id);
    const current = await store.members.find(id);
    const aftermath = current
      ? await removeMember(context, current, resolveRequest)
      : { ended: [], left: [] };
    return {
      id,
      removed_at: isoTime(now),
      revoked_keys: idsOf(aftermath.ended, 'key'),
      removed_channels: idsOf(aftermath.ended, 'channel'),
      ...aftermath,
      request_id: null,
    };
  },
});

async function ask(context: WriteContext, { id, role, masked }: MemberRow) {
  const summary = `Remove the ${role} ${masked ?? id}`;
  const requestId = await askAboutMember(context, id, { change: 'remove' }, summary);
  return {
    id,
    removed_at: null,
    revoked_keys: [],
    removed_channels: [],
    ended: [],
    left: [],
    request_id: requestId,
  };
}
