import { isoTime } from '../../lib/clock.ts';
import type { ApprovalContext } from '../../kernel/context.ts';
import type { RequestRow } from '../../store/requests.ts';
import { sendInvitation } from './invitation.ts';

/** What an owner is asked to allow, in the proposal of a request of kind `member`. */
export type MemberChange = { readonly change: 'invite' };

/** Does what an owner has allowed, or forgets whom they didn't let in. */
export async function settleMember(context: ApprovalContext, request: RequestRow): Promise<void> {
  const { store, now, recordService } = context;
  const member = await store.members.find(request.subject);
  if (!member) return;
  if (request.status === 'approved') await sendInvitation(context, member.id);
  else if (member.status === 'asked') {
    await store.members.remove(member.id, isoTime(now));
    await recordService('member.removed', member.id);
  }
}
