import { setTimeout as sleep } from 'node:timers/promises';
import type { ControlStore, ProjectRecord } from '../store/control-store.ts';
import type { Project } from './project.ts';
import type { MigrationState } from './write-gate.ts';

const LOOK_AGAIN_MS = 1000;

/** How far a project's move to another gateway has come. */
export async function migrationStateOf(
  { moves }: Pick<ControlStore, 'moves'>,
  { id, state }: ProjectRecord,
): Promise<MigrationState> {
  if (state === 'held') return { kind: 'readonly' };
  if (state === 'deleting') return { kind: 'deleted' };
  return state === 'moved' ? { kind: 'moved', to: await moves.movedTo(id) } : { kind: 'active' };
}

interface Asking {
  readonly control: ControlStore;
  /** Ends the attempts. */
  readonly signal: AbortSignal;
  readonly onError: (projectId: string, error: unknown) => void;
}

/**
 * Hands over what state each project is in by now, after a time in which this gateway missed changes. Never rejects.
 */
export async function statesAgain(
  projects: readonly Project[],
  asking: Asking,
  take: (project: Project, state: MigrationState) => void,
): Promise<void> {
  // At once, so that they share a question to the server.
  const looks = projects.map(async (project) => {
    const state = await stateAgain(project, asking);
    if (state) take(project, state);
  });
  await Promise.all(looks);
}

/** Asks until we know, because a project that has moved must not be written here. Null if there is no such project. */
async function stateAgain(
  project: Project,
  { control, signal, onError }: Asking,
): Promise<MigrationState | null> {
  const { id } = project.info;
  while (!signal.aborted) {
    try {
      const record = await control.findProject(id);
      return record ? await migrationStateOf(control, record) : null;
    } catch (error) {
      onError(id, error);
      await sleep(LOOK_AGAIN_MS);
    }
  }
  return null;
}
