import { isoTime } from '../../lib/clock.ts';
import type { ApprovalContext } from '../../kernel/context.ts';
import type { MemberRow } from '../../store/members.ts';
import { takeChannel } from './channel.ts';
import { endKeys } from './keys.ts';

/**
 * Ends everything a member has in the project, all in the current transaction: keys with what runs under them, sessions
 * of the web inbox, the channel, the invitation. Returns the ids of the keys.
 */
export async function removeMember(context: ApprovalContext, member: MemberRow): Promise<string[]> {
  const { store, now, emit, recordService } = context;
  const keys = await endKeys(context, member);
  await takeChannel(context, member);
  await store.notices.endOfChannel(member.id);
  await store.members.remove(member.id, isoTime(now));
  await recordService('member.removed', member.id, { keys });
  emit({ kind: 'members_changed' });
  return keys;
}
