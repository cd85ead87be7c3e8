/** How often a project is checked while someone waits in it. */
const LOOK_MS = 250;
/** Pause after a failed check: the store is down, and waiting costs it nothing. */
const FAILED_MS = 1_000;

interface WatchedProject {
  /** Whether anyone waits for changes in it. */
  readonly isAwaited: boolean;
  /** Takes in what others have committed by now, which wakes whoever waits. */
  catchUp(): Promise<void>;
  inBackground(work: () => Promise<void>): void;
}

/**
 * Notices other gateways' commits while someone waits in a project here: one small request, four times a second.
 * This process's own commits wake waiters directly, and projects without waiters aren't checked.
 */
export class ForeignChanges {
  readonly #project: WatchedProject;
  readonly #mayBeBehind: () => boolean;
  #timer: NodeJS.Timeout | null = null;
  #isFailing = false;
  #isClosed = false;

  /** `mayBeBehind`: others may have written. */
  constructor(project: WatchedProject, mayBeBehind: () => boolean) {
    this.#project = project;
    this.#mayBeBehind = mayBeBehind;
  }

  /** Call when someone starts to wait. */
  watch(): void {
    if (this.#timer || this.#isClosed) return;
    const inMs = this.#isFailing ? FAILED_MS : LOOK_MS;
    this.#timer = setTimeout(() => this.#project.inBackground(() => this.#refresh()), inMs);
  }

  close(): void {
    this.#isClosed = true;
    if (this.#timer) clearTimeout(this.#timer);
  }

  async #refresh(): Promise<void> {
    const project = this.#project;
    try {
      if (this.#mayBeBehind()) await project.catchUp();
      this.#isFailing = false;
    } catch (error) {
      // Logged once, until a check succeeds.
      const isNew = !this.#isFailing;
      this.#isFailing = true;
      if (isNew) throw error;
    } finally {
      this.#timer = null;
      if (project.isAwaited) this.watch();
    }
  }
}
