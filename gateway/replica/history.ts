import { createHmac, randomBytes } from 'node:crypto';
import type { Project } from '../projects/project.ts';
import { HISTORY_NAME } from '../commit/replica-history.ts';

/** The history of a database on a server, in one snapshot. */
export interface RemoteHistory {
  /** A random name; each replica belongs to one history. */
  readonly name: string;
  /** The number of the newest commit. */
  readonly position: number;
}

/** Reads the history of a project's database, and names it if it has no name yet. */
export async function historyOf(project: Project): Promise<RemoteHistory> {
  const found = await read(project);
  if (found.name !== null) return { ...found, name: found.name };
  await nameIt(project, null);
  return historyOf(project);
}

/**
 * Starts a new history, so that replicas at all gateways copy the project again. Call it with the result of `historyOf`
 * after replacing the content of an existing database. A newer history that started meanwhile stays.
 */
export async function endHistory(project: Project, ended: string): Promise<void> {
  await nameIt(project, ended);
}

/**
 * The public name of a history: 64 hex digits. It includes the address, so content copied to another address gets another
 * epoch there.
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
