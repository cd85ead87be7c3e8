import type { KeyRecord } from '../../store/keys.ts';

/** True if nobody could administer the project without this key. Other keys count only if they never expire. */
export function isLastAdmin(key: KeyRecord, active: readonly KeyRecord[]): boolean {
  const admins = active.filter((one) => one.scopes.includes('admin') && one.expires_at === null);
  return key.scopes.includes('admin') && !admins.some((one) => one.id !== key.id);
}
