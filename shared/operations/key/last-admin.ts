import { isoTime } from '../../lib/clock.ts';
import { ServiceError } from '../../lib/errors.ts';
import type { ApprovalContext } from '../../kernel/context.ts';
import type { KeyRecord } from '../../store/keys.ts';
import type { MadeRow } from '../../store/makers.ts';

/**
 * LAST_ADMIN_KEY if nobody could administer the project without these keys. Other keys count only if they never expire.
 * An app's key never counts, and can always be ended.
 */
export async function refuseLastAdmin(
  { store, now }: Pick<ApprovalContext, 'store' | 'now'>,
  root: KeyRecord,
  ending: readonly Pick<MadeRow, 'kind' | 'id'>[],
): Promise<void> {
  if (root.client !== null) return;
  const ids = new Set(ending.flatMap(({ kind, id }) => (kind === 'key' ? [id] : [])));
  ids.add(root.id);
  const active = await store.keys.active(isoTime(now));
  const admins = active.filter(({ client, scopes }) => client === null && scopes.includes('admin'));
  const losesOne = admins.some(({ id }) => ids.has(id));
  const keepsOne = admins.some(({ id, expires_at }) => expires_at === null && !ids.has(id));
  if (losesOne && !keepsOne) throw new ServiceError('LAST_ADMIN_KEY');
}
