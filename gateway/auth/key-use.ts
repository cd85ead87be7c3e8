import type { Clock } from '../../shared/lib/clock.ts';
import type { Project } from '../projects/project.ts';

const FLUSH_MS = 10_000;

/** Deliveries a source refused since the last time they were told. */
interface Rejected {
  readonly source: string;
  readonly count: number;
  /** Why the last of them was. */
  readonly reason: string;
}

interface Noted {
  readonly keys: Map<string, number>;
  readonly rejected: Map<string, Rejected>;
}

interface Listener {
  onRejected(projectId: string, rejected: Rejected): void;
  onError(error: unknown): void;
}

/**
 * When keys were last used and how many deliveries sources refused: noted in memory and written at most every ten seconds,
 * because a read must not cost a sync, and a stranger's junk even less. Refusals are told as seldom. No timer runs while there is nothing to write.
 */
export class KeyUse {
  readonly #noted = new Map<Project, Noted>();
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

  /** Writes what is noted. A disk that is full must not keep the gateway from closing, so a failure is only told. */
  async flush(now: number): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    const noted = [...this.#noted];
    this.#noted.clear();
    for (const [project, { keys, rejected: all }] of noted) {
      for (const one of all.values()) this.#listener.onRejected(project.info.id, one);
      const rejected = new Map([...all].map(([id, { count }]) => [id, count]));
      await project.writes
        .run('noteUse', { keys, rejected, now })
        .catch((error: unknown) => this.#listener.onError(error));
    }
  }

  #of(project: Project): Noted {
    let noted = this.#noted.get(project);
    if (!noted) {
      noted = { keys: new Map(), rejected: new Map() };
      this.#noted.set(project, noted);
    }
    this.#timer ??= setTimeout(() => {
      void this.flush(this.#clock.now());
    }, FLUSH_MS);
    return noted;
  }
}
