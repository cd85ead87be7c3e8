import { describe, expect, it } from 'vitest';
import { FULL_SCOPES, mayCall, mayGrant, SCOPES } from '../../shared/lib/scopes.ts';

describe('scopes', () => {
  it('are these', () => {
    expect(SCOPES).toEqual([
      'admin',
      'ledger:read',
      'inbox:read',
      'inbox:write',
      'approvals',
      'disk',
      'disk:read',
      'send',
    ]);
  });

  it('stand alone: admin does not contain the others', () => {
    expect(mayCall(['admin'], 'inbox:read')).toBe(false);
    expect(mayCall(['inbox:read'], 'inbox:read')).toBe(true);
    expect(mayCall(['inbox:write'], 'inbox:read')).toBe(false);
    expect(mayCall([], 'any')).toBe(true);
    expect(mayCall([], 'admin')).toBe(false);
  });

  it('let a key that reads the disk read it, and no more', () => {
    expect(mayCall(['disk:read'], 'disk', 'read')).toBe(true);
    expect(mayCall(['disk:read'], 'disk', 'write')).toBe(false);
    expect(mayCall(['disk:read'], 'disk')).toBe(false);
    expect(mayCall(['disk'], 'disk', 'read')).toBe(true);
    expect(mayGrant(['disk'], 'disk:read')).toBe(true);
    expect(mayGrant(['disk:read'], 'disk')).toBe(false);
    expect(FULL_SCOPES).not.toContain('disk:read');
  });
});
