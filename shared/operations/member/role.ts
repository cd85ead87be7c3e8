import * as z from 'zod';
import { notFound } from '../../lib/errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { isDecider, ROLES } from '../../rules/roles.ts';
import type { MemberRow } from '../../store/tables/access/members.ts';
import { MakerNames } from '../access/maker.ts';
import { resolveRequest } from '../request/resolve.ts';
import { askAboutMember } from './ask-owners.ts';
import { permissionFor, refuseLastOwner, refuseOwnRise } from './authority.ts';
import { applyRole } from './role-change.ts';
import { memberId, memberView, toMemberView } from './view.ts';

export const memberRole = defineOperation({
  name: 'member_role',
  summary: 'Give a member another role.',
  description:
    'Their keys lose what the new role may not have. A key can turn members into viewers and back; for a role that decides, an owner must approve. Nobody gives themselves more power, and the last owner stays one. The same role again makes a new channel where that of somebody who decides was removed.',
  scope: 'admin',
  input: z.strictObject({
    member_id: memberId,
    role: z.enum(ROLES).describe('What they may do from now on.'),
  }),
  output: z.object({
    member: memberView,
    request_id: z.string().nullable().describe('The request that an owner decides first.'),
  }),
  errors: ['NOT_FOUND', 'SCOPE_MISSING', 'CHANNEL_OWNER_PROTECTED', 'TOO_MANY_PENDING_REQUESTS'],
  effect: 'write',
  replica: 'upstream',
  rest: { method: 'POST', path: '/v1/members/{id}/role', params: { id: 'member_id' } },
  mcp: false,
  cli: {
    usage: 'member role <member_id> <role>',
    examples: ['member role mbr_01j9z3k4m5n6p7q8r9s0t1v2w3 viewer'],
  },
  subject: (input) => input.member_id,
  example: { member_id: 'mbr_01j9z3k4m5n6p7q8r9s0t1v2w3', role: 'viewer' },
}).write({
  commit: async (context, { member_id: id, role }) => {
    const { store } = context;
    const names = new MakerNames(context);
    const member = await store.members.find(id);
    if (!member) throw notFound(`member ${id}`);
    if (member.role === role && !lacksChannel(member)) {
      return { member: await toMemberView(member, names), request_id: null };
    }
    await refuseOwnRise(context, member, role);
    if (member.role !== role) await refuseLastOwner(context, member);
    if (permissionFor(context, [member.role, role]) === 'ask_owner') {
      const summary = `Make the ${member.role} ${member.masked ?? id} ${role}`;
      const requestId = await askAboutMember(context, id, { change: 'role', role }, summary);
      return { member: await toMemberView(member, names), request_id: requestId };
    }
    await applyRole(context, member, role, resolveRequest);
    const changed = (await store.members.find(id)) ?? member;
    return { member: await toMemberView(changed, names), request_id: null };
  },
});

/** Whether the channel of a member who decides was removed; the same role again makes a new one. */
function lacksChannel({ role, status, channel_id: channelId }: MemberRow): boolean {
  return status === 'active' && isDecider(role) && channelId === null;
}
