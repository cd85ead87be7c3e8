import { mayGrant, SCOPES, type Scope } from '../lib/scopes.ts';
import { REQUEST_KINDS, type RequestKind } from './requests/request-state.ts';

/** The roles of a project's members, the most powerful first. */
export const ROLES = ['owner', 'admin', 'member', 'approver', 'viewer'] as const;

export type Role = (typeof ROLES)[number];

interface RoleRule {
  /** What the role's keys and sessions may have. */
  readonly scopes: readonly Scope[];
  /** The requests that a person with this role may decide. A role that decides none is never asked. */
  readonly decides: readonly RequestKind[];
  /** The roles whose members this role may invite, change and remove without asking an owner. */
  readonly manages: readonly Role[];
  /** What the role is for, as a person reads it. */
  readonly summary: string;
}

const EVERY_SCOPE = SCOPES.filter((scope) => scope !== 'disk:read');
const WHAT_AGENTS_DO = ['approval', 'question', 'file_url', 'email_send'] as const;

/** What each role may do. Nothing else in the program knows it. */
export const ROLE_RULES: Readonly<Record<Role, RoleRule>> = {
  owner: {
    scopes: EVERY_SCOPE,
    decides: REQUEST_KINDS,
    manages: ROLES,
    summary: 'Everything: decides all, and manages the members.',
  },
  admin: {
    scopes: EVERY_SCOPE,
    decides: [...WHAT_AGENTS_DO, 'policy'],
    manages: ['member', 'viewer'],
    summary: 'Runs the project, decides actions and the policy, and invites members and viewers.',
  },
  member: {
    scopes: ['inbox:read', 'inbox:write', 'approvals', 'disk', 'send', 'ledger:read'],
    decides: [],
    manages: [],
    summary: 'Works with the agents: inbox, disk, mail. Decides nothing.',
  },
  approver: {
    scopes: ['inbox:read', 'approvals'],
    decides: WHAT_AGENTS_DO,
    manages: [],
    summary: 'Is asked, and decides actions, questions, mail and links to files.',
  },
  viewer: {
    scopes: ['inbox:read', 'disk:read', 'ledger:read'],
    decides: [],
    manages: [],
    summary: 'Reads the inbox, the disk and the ledger. Decides nothing.',
  },
};

/** Whether a role has no power that the other lacks. */
export function isWithin(role: Role, other: Role): boolean {
  const { scopes, decides, manages } = ROLE_RULES[other];
  const one = ROLE_RULES[role];
  return (
    one.scopes.every((scope) => mayGrant(scopes, scope)) &&
    one.decides.every((kind) => decides.includes(kind)) &&
    one.manages.every((managed) => manages.includes(managed))
  );
}

/** Whether members with this role are asked at all. */
export function isDecider(role: Role): boolean {
  return ROLE_RULES[role].decides.length > 0;
}

/** Whether a channel may decide such a request; null for a channel that isn't a member's. */
export function mayDecide(role: Role | null, kind: RequestKind): boolean {
  return role === null || ROLE_RULES[role].decides.includes(kind);
}

/** These scopes as far as the role may have them: `disk` shrinks to `disk:read` where only that is allowed. */
export function withinRole(scopes: readonly Scope[], role: Role): Scope[] {
  const { scopes: allowed } = ROLE_RULES[role];
  const kept = scopes.map((scope) =>
    scope === 'disk' && !allowed.includes(scope) ? 'disk:read' : scope,
  );
  return [...new Set(kept)].filter((scope) => mayGrant(allowed, scope));
}
