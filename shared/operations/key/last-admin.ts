import type { KeyRecord } from '../../store/keys.ts';

/**
 * True if nobody could administer the project without this key. Other keys count only if they never expire, and an app's
 * key never counts.
 */
export function isLastAdmin(key: KeyRecord, active: readonly KeyRecord[]): boolean {
  const admins = active.filter((one) => one.scopes.includes('admin') && one.expires_at === null);
  return (
    key.client === null && key.scopes.includes('admin') && !admins.some((one) => one.id !== key.id)
  );
}
