import type { ApprovalContext } from '../../kernel/context.ts';
import type { RequestKind } from '../../rules/request-state.ts';
import { isDecider, mayDecide, type Role } from '../../rules/roles.ts';
import type { MemberRow } from '../../store/members.ts';
import { moveAsks } from '../channel/removal.ts';
import { addressOf, giveChannel, handOver, takeChannel } from './channel.ts';
import { narrowKeys } from './keys.ts';

/** Gives a member another role, with everything that follows from it, in the current transaction. */
export async function applyRole(
  context: ApprovalContext,
  member: MemberRow,
  role: Role,
): Promise<void> {
  const { store, emit, record } = context;
  const { id, channel_id: channelId, status } = member;
  await store.members.setRole(id, role);
  await record('member.role_changed', id, { role });
  emit({ kind: 'members_changed' });
  if (status !== 'active') return;
  await narrowKeys(context, member, role);
  if (!isDecider(role)) return takeChannel(context, member);
  const address = channelId === null ? addressOf(context, member) : null;
  if (address !== null) await giveChannel(context, id, address);
  if (channelId === null || role === 'owner') return;
  await handOver(context, member);
  await moveAsks(context, channelId, ({ kind }) => !mayDecide(role, kind as RequestKind));
}
