import type { ProjectReader } from '../../shared/store/project-store.ts';

/** How often a project is looked at while somebody waits in it. */
const LOOK_MS = 250;
/** After a look that failed: the store is away, and those who wait ask nothing of it. */
const FAILED_MS = 5_000;

interface WatchedProject {
  readonly store: ProjectReader;
  /** The newest commit this process knows of. */
  readonly position: number;
  /** Somebody waits for what happens in it. */
  readonly isAwaited: boolean;
  mayBeForeign(): boolean;
  foreignCommit(position: number): void;
  inBackground(work: () => Promise<void>): void;
}

/**
 * Notices commits of other gateways while somebody waits in a project, by its position: one row, four times a second. What
 * this process commits itself wakes without it, and a project in which nobody waits is not looked at.
 */
export class ForeignChanges {
  readonly #project: WatchedProject;
  #timer: NodeJS.Timeout | null = null;
  #isFailing = false;
  #isClosed = false;

  constructor(project: WatchedProject) {
    this.#project = project;
  }

  /** Somebody has begun to wait. */
  watch(): void {
    if (this.#timer || this.#isClosed) return;
    const inMs = this.#isFailing ? FAILED_MS : LOOK_MS;
    this.#timer = setTimeout(() => this.#project.inBackground(() => this.#look()), inMs);
  }

  close(): void {
    this.#isClosed = true;
    if (this.#timer) clearTimeout(this.#timer);
  }

  async #look(): Promise<void> {
    const project = this.#project;
    try {
      if (project.mayBeForeign()) {
        const before = project.position;
        const position = Number(await project.store.read(({ meta }) => meta.get('commit_seq')));
        // What this process commits meanwhile is told by itself.
        if (position > before && position > project.position) project.foreignCommit(position);
      }
      this.#isFailing = false;
    } catch (error) {
      // Told once, until a look goes well.
      const isNew = !this.#isFailing;
      this.#isFailing = true;
      if (isNew) throw error;
    } finally {
      this.#timer = null;
      if (project.isAwaited) this.watch();
    }
  }
}
