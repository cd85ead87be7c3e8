import { describe, expect, it } from 'vitest';
import {
  isDecider,
  mayDecide,
  ROLE_RULES,
  ROLES,
  withinRole,
  type Role,
} from '../../../shared/rules/roles.ts';
import { FULL_SCOPES } from '../../../shared/lib/scopes.ts';

/** The whole table, in letters: what a role may have, what it decides, and whom it manages alone. */
const TABLE: Readonly<Record<Role, readonly [scopes: string, decides: string, manages: string]>> = {
  owner: [
    'admin ledger:read inbox:read inbox:write approvals disk send',
    'approval question policy file_url email_send channel member',
    'owner admin member approver viewer',
  ],
  admin: [
    'admin ledger:read inbox:read inbox:write approvals disk send',
    'approval question file_url email_send policy',
    'member viewer',
  ],
  member: ['inbox:read inbox:write approvals disk send ledger:read', '', ''],
  approver: ['inbox:read approvals', 'approval question file_url email_send', ''],
  viewer: ['inbox:read disk:read ledger:read', '', ''],
};

describe('the roles', () => {
  it('are these, with these powers', () => {
    const told = ROLES.map((role) => {
      const { scopes, decides, manages } = ROLE_RULES[role];
      return [role, [scopes.join(' '), decides.join(' '), manages.join(' ')]];
    });
    expect(Object.fromEntries(told)).toEqual(TABLE);
  });

  it('decide nothing about who decides, except an owner', () => {
    for (const kind of ['channel', 'member'] as const) {
      expect(ROLES.filter((role) => mayDecide(role, kind))).toEqual(['owner']);
    }
  });

  it('are asked only if they decide something', () => {
    expect(ROLES.filter(isDecider)).toEqual(['owner', 'admin', 'approver']);
  });

  it('never manage a role that is more powerful', () => {
    for (const role of ROLES) {
      for (const managed of ROLE_RULES[role].manages) {
        const { scopes, decides } = ROLE_RULES[managed];
        expect(withinRole(scopes, role)).toEqual(scopes);
        expect(decides.filter((kind) => !mayDecide(role, kind))).toEqual([]);
      }
    }
  });

  it('leave a channel that is not a member’s as it is', () => {
    expect(mayDecide(null, 'policy')).toBe(true);
  });
});

describe('scopes within a role', () => {
  it('are those that the role may have', () => {
    expect(withinRole(FULL_SCOPES, 'approver')).toEqual(['inbox:read', 'approvals']);
    expect(withinRole(FULL_SCOPES, 'owner')).toEqual(FULL_SCOPES);
    expect(withinRole(['admin', 'send'], 'viewer')).toEqual([]);
  });

  it('keep reading the disk where only that is allowed', () => {
    expect(withinRole(['disk', 'disk:read'], 'viewer')).toEqual(['disk:read']);
    expect(withinRole(['disk:read'], 'member')).toEqual(['disk:read']);
    expect(withinRole(['disk'], 'approver')).toEqual([]);
  });
});
