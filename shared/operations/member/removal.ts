import { isoTime } from '../../lib/clock.ts';
import type { ApprovalContext } from '../../kernel/context.ts';
import type { MemberRow } from '../../store/members.ts';
import { removeChannel } from '../channel/removal.ts';
import { takeChannel } from './channel.ts';
import { endKeys } from './keys.ts';
import { memberBehind } from './of-key.ts';

/** The ids of what a removed member had. */
interface Ended {
  readonly keys: readonly string[];
  /** Those that they or their keys had added. */
  readonly channels: readonly string[];
}

/**
 * Ends everything a member has in the project, all in the current transaction: keys with what runs under them, sessions
 * of the web inbox, their channel and those that they or their keys added, the invitation.
 */
export async function removeMember(context: ApprovalContext, member: MemberRow): Promise<Ended> {
  const { store, now, emit, record } = context;
  const channels = await channelsAddedBy(context, member);
  const keys = await endKeys(context, member);
  await takeChannel(context, member);
  for (const id of channels) await removeChannel(context, id);
  await store.notices.endOfChannel(member.id);
  await store.members.remove(member.id, isoTime(now));
  await record('member.removed', member.id, { keys });
  emit({ kind: 'members_changed' });
  return { keys, channels };
}

/** Without the owner's channel, and without those of other members: they joined by themselves. */
async function channelsAddedBy(
  { store }: ApprovalContext,
  { id, channel_id: own }: MemberRow,
): Promise<string[]> {
  const added: string[] = [];
  for (const channel of await store.channels.list()) {
    const { created_by: keyId } = channel;
    if (channel.owner === 1 || channel.id === own || keyId === null) continue;
    if (await store.members.findByChannel(channel.id)) continue;
    if ((await memberBehind(store, { keyId }))?.id === id) added.push(channel.id);
  }
  return added;
}
