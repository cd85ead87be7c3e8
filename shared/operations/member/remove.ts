import * as z from 'zod';
import { isoTime } from '../../lib/clock.ts';
import type { WriteContext } from '../../kernel/context.ts';
import { notFound, ServiceError } from '../../lib/errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import type { MemberRow } from '../../store/members.ts';
import { askOwners, changeFor } from './ask-owners.ts';
import { mayRemove, refuseLastOwner } from './authority.ts';
import { memberBehind } from './of-key.ts';
import { removeMember } from './removal.ts';
import { memberId } from './view.ts';
import { withdrawChanges } from './withdrawal.ts';

export const memberRemove = defineOperation({
  name: 'member_remove',
  summary: 'Remove a member, or withdraw an invitation.',
  description:
    "Ends at once their keys and the keys those made, what runs under them, their web sessions, links and buttons; their pending requests go to an owner. Removing an owner or an admin with a key needs an owner's approval. Anyone may remove themselves.",
  scope: 'any',
  input: z.strictObject({ member_id: memberId }),
  output: z.object({
    id: z.string().describe('The member.'),
    removed_at: z.string().nullable().describe('Null while an owner must decide first.'),
    revoked_keys: z.array(z.string()).describe('The keys that ended.'),
    request_id: z.string().nullable().describe('The request that an owner decides first.'),
  }),
  errors: ['NOT_FOUND', 'SCOPE_MISSING', 'CHANNEL_OWNER_PROTECTED'],
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
    const isOwn = (await memberBehind(store, context.caller))?.id === id;
    if (!isOwn && !context.caller.scopes.includes('admin')) {
      throw new ServiceError('SCOPE_MISSING', { details: { scope: 'admin' } });
    }
    await refuseLastOwner(context, member);
    if (!mayRemove(context, member, isOwn)) return ask(context, member);
    await withdrawChanges(context, id);
    const current = await store.members.find(id);
    const keys = current ? await removeMember(context, current) : [];
    return { id, removed_at: isoTime(now), revoked_keys: keys, request_id: null };
  },
});

async function ask(context: WriteContext, { id, role, masked }: MemberRow) {
  const requestId = await askOwners(context, {
    ...changeFor(context, id, { change: 'remove' }),
    action: 'member_remove',
    summary: `Remove the ${role} ${masked ?? id}`,
  });
  return { id, removed_at: null, revoked_keys: [], request_id: requestId };
}
