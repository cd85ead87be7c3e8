import type * as z from 'zod';
import { memberInvite } from '../../../../../shared/operations/member/invite.ts';
import { memberList } from '../../../../../shared/operations/member/list.ts';
import { ROLE_RULES, ROLES, type Role } from '../../../../../shared/rules/roles.ts';
import type { memberView } from '../../../../../shared/operations/member/view.ts';
import { allItems } from '../../../ui/all-items.ts';
import type { State } from '../../../ui/list.tsx';
import type { PageContext } from '../../page-context.ts';

/** A member as `member_list` returns them. */
export type Member = z.output<typeof memberView>;

export const MEMBER_STATES: Readonly<Record<Member['status'], State>> = {
  asked: ['Waiting for an owner', 'warn'],
  invited: ['Invited', 'warn'],
  active: ['Active', 'good'],
  removed: ['Removed', 'calm'],
};

export const { all: membersOf, one: memberOf } = allItems(memberList, ({ id }) => id);

/** Whether the visitor may invite people here. */
export function mayInvite({ inbox, may }: PageContext): boolean {
  return inbox.server.signsIn === true && may(memberInvite);
}

/** Whether an owner is asked before the visitor's change of such a role takes effect. */
export function asksOwner({ access }: PageContext, role: Role): boolean {
  return !ROLE_RULES[access.member?.role ?? 'admin'].manages.includes(role);
}

/** The roles for a form, each with what it is for. */
export const ROLE_CHOICES = ROLES.toReversed().map((role): readonly [string, string] => [
  role,
  `${role}: ${ROLE_RULES[role].summary}`,
]);
