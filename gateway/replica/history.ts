import { createHmac, randomBytes } from 'node:crypto';
import type { Project } from '../projects/project.ts';
import { HISTORY_NAME } from '../commit/replica-history.ts';

/** What a database on a server says of itself, in one snapshot. */
export interface RemoteHistory {
  /** Random; what replicas belong to. */
  readonly name: string;
  /** The number of the newest commit. */
  readonly position: number;
}

/** The history of a project's database, which is given a name where it has none. */
export async function historyOf(project: Project): Promise<RemoteHistory> {
  const found = await read(project);
  if (found.name !== null) return { ...found, name: found.name };
  await nameIt(project, null);
  return historyOf(project);
}

/**
 * Begins another history: replicas of this one are copied anew, at all gateways. To be called for that of `historyOf` by
 * whoever has put other content in a database that is there. Where another one has begun since, that stays.
 */
export async function endHistory(project: Project, ended: string): Promise<void> {
  await nameIt(project, ended);
}

/**
 * What the history is called outside: 64 hex digits. Content that was copied to another address, with the name of its history,
 * makes another epoch there.
 */
export function epochOf(address: string, { name }: RemoteHistory): string {
  return createHmac('sha256', name).update(address).digest('hex');
}

async function nameIt(project: Project, ended: string | null): Promise<void> {
  const fresh = randomBytes(16).toString('hex');
  await project.writes.run('replicaHistory', { fresh, ended });
}

function read(project: Project): Promise<{ name: string | null; position: number }> {
  return project.store.read(async ({ meta }) => {
    const [found, position] = [await meta.get(HISTORY_NAME), await meta.get('commit_seq')];
    return { name: typeof found === 'string' ? found : null, position: Number(position) };
  });
}
