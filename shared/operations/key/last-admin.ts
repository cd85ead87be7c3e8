import type { KeyRecord } from '../../store/keys.ts';

/** True when nobody could administer the project without this key. A key that will expire does not count as another. */
export function isLastAdmin(key: KeyRecord, active: readonly KeyRecord[]): boolean {
  const admins = active.filter((one) => one.scopes.includes('admin') && one.expires_at === null);
  return key.scopes.includes('admin') && !admins.some((one) => one.id !== key.id);
}
