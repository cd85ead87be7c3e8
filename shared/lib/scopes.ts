/** What a key may do (spec section 5, rule 3). */
export const SCOPES = [
  'admin',
  'ledger:read',
  'inbox:read',
  'inbox:write',
  'approvals',
  'disk',
  'send',
] as const;

export type Scope = (typeof SCOPES)[number];

/** Whether a key with these scopes may call something that needs `needed`; `any` needs only a valid key. */
export function mayCall(scopes: readonly Scope[], needed: Scope | 'any'): boolean {
  return needed === 'any' || scopes.includes(needed);
}
