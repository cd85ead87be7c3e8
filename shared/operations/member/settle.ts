import { isoTime } from '../../lib/clock.ts';
import type { ApprovalContext } from '../../kernel/context.ts';
import type { Role } from '../../rules/roles.ts';
import type { MemberRow } from '../../store/tables/access/members.ts';
import type { RequestRow } from '../../store/tables/people/requests.ts';
import { applyProjectChange, type ProjectChange } from '../project/apply.ts';
import type { resolveRequest } from '../request/resolve.ts';
import { isLastOwner } from './authority.ts';
import { sendInvitation } from './invitation.ts';
import { removeMember } from './removal.ts';
import { applyRole } from './role-change.ts';

/** What an owner is asked to allow, in the proposal of a request of kind `member`. */
export type MemberChange =
  | { readonly change: 'invite' }
  | { readonly change: 'role'; readonly role: Role }
  | { readonly change: 'remove' };

/** Does what an owner has allowed, or forgets whom they didn't let in. */
export async function settleMember(
  context: ApprovalContext,
  request: RequestRow,
  resolve: typeof resolveRequest,
): Promise<void> {
  const { store, now, record } = context;
  const change = JSON.parse(request.proposal ?? '{}') as MemberChange | ProjectChange;
  if (change.change === 'rename' || change.change === 'delete') {
    if (request.status === 'approved') await applyProjectChange(context, change);
    return;
  }
  const member = await store.members.find(request.subject);
  if (!member) return;
  if (request.status === 'approved') {
    await allowed(context, member, { change, resolve });
  } else if (member.status === 'asked') {
    await store.members.remove(member.id, isoTime(now));
    await record('member.removed', member.id);
  }
}

/** The last owner stays: others may have left since the question was asked. */
async function allowed(
  context: ApprovalContext,
  member: MemberRow,
  { change, resolve }: { readonly change: MemberChange; readonly resolve: typeof resolveRequest },
): Promise<void> {
  if (change.change === 'invite') {
    await sendInvitation(context, member.id);
    return;
  }
  if (await isLastOwner(context, member)) return;
  if (change.change === 'role') await applyRole(context, member, change.role, resolve);
  else await removeMember(context, member, resolve);
}
