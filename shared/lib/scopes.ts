/** What a key may do (spec section 5, rule 3). */
export const SCOPES = [
  'admin',
  'ledger:read',
  'inbox:read',
  'inbox:write',
  'approvals',
  'disk',
  'disk:read',
  'send',
] as const;

export type Scope = (typeof SCOPES)[number];

/** The scopes whose operations name files, keys or task states. */
const NAMING_SCOPES: readonly Scope[] = ['disk', 'disk:read', 'send'];

/**
 * Why a key with these scopes can't be limited to prefixes of the disk; null if it can. With `admin` it could create a
 * key without the limit.
 */
export function limitProblem(scopes: readonly Scope[]): string | null {
  if (scopes.includes('admin')) return "A key with admin can't be limited: it could create others.";
  if (scopes.some((scope) => NAMING_SCOPES.includes(scope))) return null;
  return `Nothing to limit: the key has none of ${NAMING_SCOPES.join(', ')}.`;
}

/** The scopes of a key that may do everything: `disk` includes `disk:read`. */
export const FULL_SCOPES: readonly Scope[] = SCOPES.filter((scope) => scope !== 'disk:read');

/** What an agent needs for its work, and nothing that gives it more rights. */
export const AGENT_SCOPES: readonly Scope[] = [
  'inbox:read',
  'inbox:write',
  'approvals',
  'disk',
  'send',
];
/** The scopes whose operations only read. */
export const READING_SCOPES: readonly Scope[] = ['ledger:read', 'inbox:read', 'disk:read'];

/**
 * Whether a key with these scopes may call something that needs `needed`; `any` needs only a valid key. Something that
 * only reads the disk needs less.
 */
export function mayCall(
  scopes: readonly Scope[],
  needed: Scope | 'any',
  effect: 'read' | 'write' | 'wait' = 'write',
): boolean {
  if (needed === 'any' || scopes.includes(needed)) return true;
  return needed === 'disk' && effect === 'read' && scopes.includes('disk:read');
}

/** Whether a key with these scopes may give this one to another key. */
export function mayGrant(scopes: readonly Scope[], granted: Scope): boolean {
  return scopes.includes(granted) || (granted === 'disk:read' && scopes.includes('disk'));
}
