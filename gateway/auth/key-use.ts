import type { Clock } from '../../shared/lib/clock.ts';
import type { Project } from '../projects/project.ts';

const FLUSH_MS = 10_000;

/** Deliveries that a source rejected since the last report. */
interface RejectionCount {
  readonly source: string;
  readonly count: number;
  /** The reason of the last rejection. */
  readonly reason: string;
}

interface ProjectUse {
  readonly keys: Map<string, number>;
  readonly rejected: Map<string, RejectionCount>;
  readonly repeated: Map<string, number>;
}

interface Listener {
  onRejected(projectId: string, rejected: RejectionCount): void;
  onError(error: unknown): void;
}

/**
 * Tracks when keys were last used, and how many deliveries sources rejected or knew already. It keeps them in memory and writes at
 * most every ten seconds, because a read must not cost a sync, and a stranger's junk even less. It reports rejections
 * at the same pace. Without anything to write, no timer runs.
 */
export class KeyUse {
  readonly #noted = new Map<Project, ProjectUse>();
  readonly #clock: Clock;
  readonly #listener: Listener;
  #timer: NodeJS.Timeout | null = null;

  constructor(clock: Clock, listener: Listener) {
    this.#clock = clock;
    this.#listener = listener;
  }

  note(project: Project, keyId: string, now: number): void {
    this.#of(project).keys.set(keyId, now);
  }

  noteRejected(
    project: Project,
    source: { readonly id: string; readonly name: string },
    reason: string,
  ): void {
    const { rejected } = this.#of(project);
    const count = (rejected.get(source.id)?.count ?? 0) + 1;
    rejected.set(source.id, { source: source.name, count, reason });
  }

  /** A delivery without an id had the bytes of an earlier one, so it made no event. */
  noteRepeated(project: Project, sourceId: string): void {
    const { repeated } = this.#of(project);
    repeated.set(sourceId, (repeated.get(sourceId) ?? 0) + 1);
  }

  /**
   * Writes the tracked values. It only reports a failure, because a full disk must not keep the gateway from closing.
   */
  async flush(now: number): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    const noted = [...this.#noted];
    this.#noted.clear();
    for (const [project, { keys, rejected: all, repeated }] of noted) {
      for (const one of all.values()) this.#listener.onRejected(project.info.id, one);
      const rejected = new Map([...all].map(([id, { count }]) => [id, count]));
      await project.writes
        .run('noteUse', { keys, rejected, repeated, now })
        .catch((error: unknown) => this.#listener.onError(error));
    }
  }

  #of(project: Project): ProjectUse {
    let noted = this.#noted.get(project);
    if (!noted) {
      noted = { keys: new Map(), rejected: new Map(), repeated: new Map() };
      this.#noted.set(project, noted);
    }
    this.#timer ??= setTimeout(() => {
      void this.flush(this.#clock.now());
    }, FLUSH_MS);
    return noted;
  }
}
