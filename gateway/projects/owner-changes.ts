import { isDeleted, renamedTo } from '../../shared/operations/project/apply.ts';
import type { ControlStore } from '../store/control-store.ts';
import { eraseProject, type ErasureDeps } from './erasure.ts';
import type { Project } from './project.ts';

interface OwnerChangesDeps extends ErasureDeps {
  /** Takes a project out of memory; from then on only the control database tells whether it exists. */
  forget(projectId: string): Promise<Project | undefined>;
}

/**
 * Renames and deletes projects. What a project's own database says decides, and the control database follows, because
 * the two can't commit together. Each step can be repeated, so a gateway finishes what an earlier run began.
 */
export class OwnerChanges {
  readonly #control: ControlStore;
  readonly #deps: OwnerChangesDeps;

  constructor(control: ControlStore, deps: OwnerChangesDeps) {
    this.#control = control;
    this.#deps = deps;
  }

  /** Applies what an owner changed. Returns false if the project no longer exists. */
  async follow(project: Project): Promise<boolean> {
    const { id, name } = project.info;
    const { wanted, isOver } = await project.store.read(async (store) => ({
      wanted: await renamedTo(store),
      isOver: await isDeleted(store),
    }));
    if (isOver) await this.delete(id);
    else if (wanted !== null && wanted !== name) {
      await this.#control.renameProject(id, wanted);
      project.rename(wanted);
    }
    return !isOver;
  }

  /** From the first step on nobody finds the project; resolves when nothing is left of it. */
  async delete(projectId: string): Promise<void> {
    await this.#control.deletions.begin(projectId);
    const project = await this.#deps.forget(projectId);
    await project?.end();
    await this.finish(projectId);
  }

  /** Does the rest of a deletion; nothing if the project isn't being deleted. */
  async finish(projectId: string): Promise<void> {
    const record = await this.#control.findProject(projectId);
    if (record?.state !== 'deleting') return;
    const hasMoved = (await this.#control.moves.movedTo(projectId)) !== null;
    await eraseProject(projectId, this.#deps, { keepsSharedBlobs: hasMoved });
    await this.#control.deletions.finish(projectId);
  }
}
