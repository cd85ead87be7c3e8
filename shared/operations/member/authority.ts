import type { ApprovalContext, WriteContext } from '../../kernel/context.ts';
import { ServiceError } from '../../lib/errors.ts';
import { isWithin, ROLE_RULES, type Role } from '../../rules/roles.ts';
import type { MemberRow } from '../../store/tables/access/members.ts';
import { memberBehind } from './of-key.ts';

/**
 * How a caller may do something to members with these roles: at once, or once an owner approves. A key is worth no more
 * than an admin, whoever owns it, because an agent may be using it.
 */
export function permissionFor(
  { caller }: Pick<WriteContext, 'caller'>,
  roles: readonly Role[],
): 'at_once' | 'ask_owner' {
  const { manages } = ROLE_RULES[caller.member?.role ?? 'admin'];
  return roles.every((role) => manages.includes(role)) ? 'at_once' : 'ask_owner';
}

/** SCOPE_MISSING if the caller would get more power by a change that they make themselves. */
export async function refuseOwnRise(
  { store, caller }: WriteContext,
  member: MemberRow,
  role: Role,
): Promise<void> {
  const own = await memberBehind(store, caller);
  if (own?.id !== member.id || isWithin(role, member.role)) return;
  throw new ServiceError('SCOPE_MISSING', {
    details: { role },
    hint: 'Nobody gives themselves more power: another owner or admin can.',
  });
}

/**
 * Whether the caller may remove a member without asking an owner. Taking the power to decide from an approver is
 * harmless, as with a channel; an owner or admin could be locked out by an agent.
 */
export function mayRemove(
  { caller }: Pick<WriteContext, 'caller'>,
  { role }: MemberRow,
  isOwn: boolean,
): boolean {
  return isOwn || role === 'approver' || permissionFor({ caller }, [role]) === 'at_once';
}

/** Whether the project would be without an owner if this one left. */
export async function isLastOwner(
  { store }: Pick<ApprovalContext, 'store'>,
  member: MemberRow,
): Promise<boolean> {
  if (member.role !== 'owner' || member.status !== 'active') return false;
  const members = await store.members.list();
  return !members.some(
    ({ id, role, status }) => id !== member.id && role === 'owner' && status === 'active',
  );
}

/** CHANNEL_OWNER_PROTECTED if the project would be without an owner. */
export async function refuseLastOwner(context: WriteContext, member: MemberRow): Promise<void> {
  if (!(await isLastOwner(context, member))) return;
  throw new ServiceError('CHANNEL_OWNER_PROTECTED', {
    hint: 'This is the last owner. Make another member an owner first.',
  });
}
