import { isoTime } from '../../lib/clock.ts';
import type { MemberRow } from '../../store/tables/access/members.ts';
import type { Repositories } from '../../store/repositories.ts';

/** The member that `created_by` of a row names: by their own id, or that of their account or channel. */
export async function memberNamed(
  members: Repositories['members'],
  id: string,
): Promise<MemberRow | undefined> {
  return (
    (await members.findByAccount(id)) ??
    (await members.findByChannel(id)) ??
    (await members.find(id))
  );
}

/** Whether a key, a route, or the person behind a session may still do what they could. `now` is in milliseconds. */
export async function isStillHere(
  { keys, members, routes }: Pick<Repositories, 'keys' | 'members' | 'routes'>,
  actor: string,
  now: number,
): Promise<boolean> {
  if (actor.startsWith('rte_')) return (await routes.find(actor))?.enabled === 1;
  if (!actor.startsWith('key_')) return (await memberNamed(members, actor))?.status === 'active';
  const key = await keys.find(actor);
  return key?.revoked_at === null && (key.expires_at === null || key.expires_at > isoTime(now));
}
