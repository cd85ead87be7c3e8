import type { ProjectInfo } from '../../shared/kernel/context.ts';
import { MakerNames } from '../../shared/operations/access/maker.ts';
import type { Repositories } from '../../shared/store/repositories.ts';
import type { AccessView } from './approvals.ts';

/** A new member, key or route, in the words that an owner reads; null if it has ended since. */
export async function accessViewFor(
  store: Repositories,
  { name, slug }: ProjectInfo,
  id: string,
): Promise<AccessView | null> {
  const found = await read(store, id);
  if (!found) return null;
  const { by, at, ...what } = found;
  const maker = await new MakerNames({ store, server: { signsIn: true } }).of(by);
  return { project: { name, slug }, id, ...what, maker, at: Date.parse(at) };
}

type AccessRecord = Pick<AccessView, 'kind' | 'name' | 'what'> & {
  readonly by: string | null;
  readonly at: string;
};

async function read(store: Repositories, id: string): Promise<AccessRecord | null> {
  if (id.startsWith('mbr_')) {
    const member = await store.members.find(id);
    if (!member) return null;
    const { masked, role, invited_by: by, joined_at, created_at } = member;
    return { kind: 'member', name: masked ?? id, what: role, by, at: joined_at ?? created_at };
  }
  if (id.startsWith('rte_')) {
    const route = await store.routes.find(id);
    if (!route) return null;
    const { callback_url: name, match_source: source, match_type: type, created_by: by } = route;
    const what = `events of ${source ?? 'any source'}, ${type ?? 'any type'}`;
    return { kind: 'route', name, what, by, at: route.created_at };
  }
  const key = await store.keys.find(id);
  if (key?.revoked_at !== null) return null;
  const { name, scopes, created_by: by, created_at: at } = key;
  return { kind: 'key', name, what: scopes.join(', '), by, at };
}
