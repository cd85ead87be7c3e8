import type { ApprovalContext } from '../../kernel/context.ts';
import type { RequestKind } from '../../rules/requests/request-state.ts';
import { isDecider, mayDecide, ROLE_RULES, type Role } from '../../rules/roles.ts';
import type { MemberRow } from '../../store/tables/access/members.ts';
import { endParts } from '../access/end.ts';
import { madeParts } from '../access/made.ts';
import { moveAsks } from '../channel/removal.ts';
import type { resolveRequest } from '../request/resolve.ts';
import { addressOf, giveChannel, handOver, takeChannel } from './channel.ts';
import { makersOf, narrowKeys } from './keys.ts';

/** Gives a member another role, with everything that follows from it, in the current transaction. */
export async function applyRole(
  context: ApprovalContext,
  member: MemberRow,
  role: Role,
  resolve: typeof resolveRequest,
): Promise<void> {
  const { store, emit, record } = context;
  const { id, channel_id: channelId, status } = member;
  await store.members.setRole(id, role);
  await record('member.role_changed', id, { role });
  emit({ kind: 'members_changed' });
  if (status !== 'active') return;
  await endUnderRole(context, member, { role, resolve });
  await narrowKeys(context, member, role);
  if (!isDecider(role)) return takeChannel(context, member);
  const address = channelId === null ? addressOf(context, member) : null;
  if (address !== null) await giveChannel(context, id, address);
  if (channelId === null || role === 'owner') return;
  await handOver(context, member);
  await moveAsks(context, channelId, ({ kind }) => !mayDecide(role, kind as RequestKind));
}

/** Who may no longer add routes or invite people keeps none that they added. */
async function endUnderRole(
  context: ApprovalContext,
  member: MemberRow,
  { role, resolve }: { readonly role: Role; readonly resolve: typeof resolveRequest },
): Promise<void> {
  if (ROLE_RULES[role].scopes.includes('admin')) return;
  const parts = await madeParts(context, makersOf(member));
  const ending = parts.ending.filter(({ kind }) => kind === 'route' || kind === 'invitation');
  const because = 'the member who made it got a smaller role';
  await endParts(context, { ...parts, line: [], ending }, { because, resolve });
}
