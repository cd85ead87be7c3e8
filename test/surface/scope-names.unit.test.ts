import { describe, expect, it } from 'vitest';
import { mayCall, SCOPES } from '../../shared/lib/scopes.ts';

describe('scopes', () => {
  it('are these', () => {
    expect(SCOPES).toEqual([
      'admin',
      'ledger:read',
      'inbox:read',
      'inbox:write',
      'approvals',
      'disk',
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
});
