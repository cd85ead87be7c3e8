import { isoTime, type Clock } from '../shared/clock.ts';
import type { Project } from './project.ts';

const FLUSH_MS = 10_000;

interface Noted {
  readonly keys: Map<string, number>;
  readonly rejected: Map<string, number>;
}

/**
 * When keys were last used and how many deliveries sources refused: noted in memory and written at most every ten seconds,
 * because a read must not cost a sync, and a stranger's junk even less. No timer runs while there is nothing to write.
 */
export class KeyUse {
  readonly #noted = new Map<Project, Noted>();
  readonly #clock: Clock;
  readonly #onError: (error: unknown) => void;
  #timer: NodeJS.Timeout | null = null;

  constructor(clock: Clock, onError: (error: unknown) => void) {
    this.#clock = clock;
    this.#onError = onError;
  }

  note(project: Project, keyId: string, now: number): void {
    this.#of(project).keys.set(keyId, now);
  }

  noteRejected(project: Project, sourceId: string): void {
    const { rejected } = this.#of(project);
    rejected.set(sourceId, (rejected.get(sourceId) ?? 0) + 1);
  }

  /** Writes what is noted. A disk that is full must not keep the gateway from closing, so a failure is only told. */
  async flush(now: number): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    const noted = [...this.#noted];
    this.#noted.clear();
    for (const [project, { keys, rejected }] of noted) {
      const written = project.store.write(async (store) => {
        for (const [keyId, usedAt] of keys) await store.keys.touch(keyId, isoTime(usedAt));
        for (const [id, count] of rejected) await store.sources.countRejected(id, now, count);
      });
      await written.catch(this.#onError);
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
