import { setTimeout as sleep } from 'node:timers/promises';
import type { Attempt } from '../commit/push.ts';
import type { ProjectWrites } from '../commit/writers.ts';

/** So many are written down by one job, which others have to wait for, and so many jobs are under way at once. */
const BATCH_MAX = 32;
const JOBS_MAX = 4;
/** A full disk passes. */
const AGAIN_MS = 1000;

interface Entry {
  readonly attempt: Attempt;
  readonly written: () => void;
}

/**
 * Writes down how attempts went, those that end about the same time together. What cannot be written is tried again until
 * it is: meanwhile its delivery counts as under way, so that nobody gets the same event over and over.
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

  /** Resolves when the attempt is written down, or never will be. */
  add(attempt: Attempt): Promise<void> {
    return new Promise((resolve) => {
      this.#queue.push({ attempt, written: resolve });
      if (this.#jobs.size < JOBS_MAX) this.#begin();
    });
  }

  /** Tries each that is left once more. What is not written then is sent again after the next start. */
  async close(): Promise<void> {
    this.#closing.abort();
    while (this.#jobs.size > 0) await Promise.all(this.#jobs);
  }

  #begin(): void {
    const job = this.#drain().finally(() => this.#jobs.delete(job));
    this.#jobs.add(job);
  }

  async #drain(): Promise<void> {
    // What ends in the same turn of the loop shares a job.
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
