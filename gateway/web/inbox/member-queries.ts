import type * as z from 'zod';
import { ServiceError } from '../../../shared/lib/errors.ts';
import { memberList } from '../../../shared/operations/member/list.ts';
import { ROLE_RULES, ROLES, type Role } from '../../../shared/rules/roles.ts';
import type { memberView } from '../../../shared/operations/member/view.ts';
import type { Tone } from './parts.tsx';
import type { PageContext } from './page-context.ts';

/** A member as `member_list` returns them. */
export type Member = z.output<typeof memberView>;

interface StateWords {
  readonly text: string;
  readonly tone: Tone;
}

export const MEMBER_STATES: Readonly<Record<Member['status'], StateWords>> = {
  asked: { text: 'Waiting for an owner', tone: 'warn' },
  invited: { text: 'Invited', tone: 'warn' },
  active: { text: 'Active', tone: 'good' },
  removed: { text: 'Removed', tone: 'calm' },
};

export async function membersOf(context: PageContext): Promise<readonly Member[]> {
  return ((await context.call(memberList, {})) as { items: Member[] }).items;
}

/** NOT_FOUND. */
export async function memberOf(context: PageContext, id: string): Promise<Member> {
  const member = (await membersOf(context)).find((one) => one.id === id);
  if (!member) throw new ServiceError('NOT_FOUND');
  return member;
}

/** Whether the visitor may invite people here. */
export function mayInvite({ access, inbox }: PageContext): boolean {
  return inbox.server.signsIn === true && access.scopes.includes('admin');
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
