import { setTimeout as sleep } from 'node:timers/promises';
import type { Attempt } from '../commit/commands/inbox/push.ts';
import type { ProjectWrites } from '../commit/thread/writers.ts';

/** How many attempts one job records (other jobs wait for it), and how many jobs run at once. */
const BATCH_MAX = 32;
const JOBS_MAX = 4;
/** Retry: a full disk is temporary. */
const AGAIN_MS = 1000;

interface Entry {
  readonly attempt: Attempt;
  readonly written: () => void;
}

/**
 * Records the results of attempts, together if they end at about the same time. A failed record is retried until it
 * succeeds; until then its delivery counts as under way, so that no receiver gets the same event over and over.
 */
export class AttemptLog {
  readonly #writes: ProjectWrites;
  readonly #onError: (error: unknown) => void;
  readonly #queue: Entry[] = [];
  readonly #jobs = new Set<Promise<void>>();
  readonly #closing = new AbortController();

  constructor(writes: ProjectWrites, onError: (error: unknown) => void) {
    this.#writes = writes;
    this.#onError = onError;
  }

  /** Resolves when the attempt is recorded or can't be any more. */
  add(attempt: Attempt): Promise<void> {
    return new Promise((resolve) => {
      this.#queue.push({ attempt, written: resolve });
      if (this.#jobs.size < JOBS_MAX) this.#begin();
    });
  }

  /** Tries the remaining ones once more. The next start sends again whatever is still not recorded. */
  async close(): Promise<void> {
    this.#closing.abort();
    while (this.#jobs.size > 0) await Promise.all(this.#jobs);
  }

  #begin(): void {
    const job = this.#drain().finally(() => this.#jobs.delete(job));
    this.#jobs.add(job);
  }

  async #drain(): Promise<void> {
    // Attempts that end in the same turn of the event loop share a job.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#queue.length > 0) {
      const batch = this.#queue.splice(0, BATCH_MAX);
      const attempts = batch.map(({ attempt }) => attempt);
      let isWritten = await this.#write(attempts);
      while (!isWritten && !this.#closing.signal.aborted) {
        await sleep(AGAIN_MS, undefined, this.#closing).catch(() => undefined);
        isWritten = await this.#write(attempts);
      }
      for (const { written } of batch) written();
    }
  }

  async #write(attempts: readonly Attempt[]): Promise<boolean> {
    try {
      await this.#writes.run('recordAttempts', attempts);
      return true;
    } catch (error) {
      this.#onError(error);
      return false;
    }
  }
}
