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
 * What a project's state is by now, after a time in which this gateway missed changes; null if there is no such
 * project. Asks until we know: a project that has moved must not be written here. Never rejects.
 */
export async function stateAgain(
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
