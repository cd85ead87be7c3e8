import { isoTime } from '../../lib/clock.ts';
import type { ApprovalContext } from '../../kernel/context.ts';
import type { MemberRow } from '../../store/tables/access/members.ts';
import { endParts } from '../access/end.ts';
import { madeParts } from '../access/made.ts';
import type { Aftermath } from '../access/view.ts';
import { removeChannel } from '../channel/removal.ts';
import type { resolveRequest } from '../request/resolve.ts';
import { takeChannel } from './channel.ts';
import { makersOf } from './keys.ts';

/**
 * Ends everything a member has in the project, all in the current transaction: keys with what runs under them and what they
 * made, sessions of the web inbox, their channel and those that they or their keys added, the invitation.
 */
export async function removeMember(
  context: ApprovalContext,
  member: MemberRow,
  resolve: typeof resolveRequest,
): Promise<Aftermath> {
  const { store, now, emit, record } = context;
  const parts = await madeParts(context, makersOf(member));
  const { ended, left } = await endParts(context, parts, {
    because: 'the member who made it was removed',
    resolve,
  });
  const channels = left.filter(({ kind }) => kind === 'channel');
  await takeChannel(context, member);
  for (const { id } of channels) await removeChannel(context, id);
  await store.notices.endOfChannel(member.id);
  await store.members.remove(member.id, isoTime(now));
  const keys = idsOf(ended, 'key');
  await record('member.removed', member.id, { keys });
  emit({ kind: 'members_changed' });
  return {
    ended: [...ended, ...channels.map(({ kind, id, name }) => ({ kind, id, name }))],
    left: left.filter(({ kind }) => kind !== 'channel'),
  };
}

/** The ids of one kind among what ended. */
export function idsOf(
  ended: Aftermath['ended'],
  wanted: Aftermath['ended'][number]['kind'],
): string[] {
  return ended.filter(({ kind }) => kind === wanted).map(({ id }) => id);
}
