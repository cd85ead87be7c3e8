import { isoTime } from '../../lib/clock.ts';
import { ServiceError } from '../../lib/errors.ts';
import type { ApprovalContext, ServerInfo } from '../../kernel/context.ts';
import type { KeyRecord } from '../../store/tables/access/keys.ts';
import type { MadeRow } from '../../store/tables/access/makers.ts';

type Context = Pick<ApprovalContext, 'store' | 'now'>;
type Ending = readonly Pick<MadeRow, 'kind' | 'id'>[];

/** LAST_ADMIN_KEY if nobody could administer the project without these keys. */
export async function refuseLastAdmin(
  context: Context & { readonly server: Pick<ServerInfo, 'signsIn'> },
  root: KeyRecord,
  ending: Ending,
): Promise<void> {
  if (!(await losesLastAdmin(context, root, ending))) return;
  // Another key that this one makes would end with it.
  const signIn = context.server.signsIn === true ? 'Sign in for another admin key first. ' : '';
  const hint = `${signIn}To keep this key with a new secret, and end what it made: svc key rotate ${root.id} --end-made`;
  throw new ServiceError('LAST_ADMIN_KEY', { hint });
}

/**
 * Whether nobody could administer the project without these keys. Other keys count only if they never expire. An app's key
 * never counts, and can always be ended.
 */
export async function losesLastAdmin(
  { store, now }: Context,
  root: KeyRecord,
  ending: Ending,
): Promise<boolean> {
  if (root.client !== null) return false;
  const ids = new Set(ending.flatMap(({ kind, id }) => (kind === 'key' ? [id] : [])));
  ids.add(root.id);
  const active = await store.keys.active(isoTime(now));
  const admins = active.filter(({ client, scopes }) => client === null && scopes.includes('admin'));
  const losesOne = admins.some(({ id }) => ids.has(id));
  const keepsOne = admins.some(({ id, expires_at }) => expires_at === null && !ids.has(id));
  return losesOne && !keepsOne;
}
