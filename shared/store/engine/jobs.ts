import { unavailable } from '../../lib/errors.ts';
import type { WriteOptions, WriteTx } from './driver.ts';

/** How many jobs and bytes a writer queues before it refuses more. */
const QUEUE_MAX_JOBS = 4096;
const QUEUE_MAX_BYTES = 256 * 1024 * 1024;
/** The most jobs in one group, so that no commit takes long. */
export const GROUP_MAX_JOBS = 128;

/** A queued write. It may run twice, so it must act only through its transaction. */
export interface Job {
  readonly sizeBytes: number;
  readonly run: (tx: WriteTx) => Promise<unknown>;
  readonly onError: ((tx: WriteTx, error: unknown) => Promise<unknown>) | undefined;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** A job that has run but isn't durable yet. */
export interface SettledJob {
  readonly job: Job;
  readonly outcome: { readonly value: unknown } | { readonly error: unknown };
}

/** A job failed after it had written, so its changes must be undone. */
export class HalfDoneError extends Error {}

/** Jobs that wait for a writer, in order of arrival. */
export class JobQueue {
  #jobs: Job[] = [];
  #bytes = 0;

  get length(): number {
    return this.#jobs.length;
  }

  /** UNAVAILABLE if the queue is full. */
  add<T>(fn: (tx: WriteTx) => Promise<T>, options: WriteOptions<T>): Promise<T> {
    const sizeBytes = options.sizeBytes ?? 0;
    if (this.#jobs.length >= QUEUE_MAX_JOBS || this.#bytes + sizeBytes > QUEUE_MAX_BYTES) {
      return Promise.reject(unavailable(1, new Error('The write queue is full.')));
    }
    return new Promise<T>((resolve, reject) => {
      this.#bytes += sizeBytes;
      this.#jobs.push({
        sizeBytes,
        run: fn,
        onError: options.onError,
        resolve: resolve as (value: unknown) => void,
        reject,
      });
    });
  }

  take(): Job {
    const job = this.#jobs.shift();
    if (!job) throw new Error('The write queue is empty.');
    this.#bytes -= job.sizeBytes;
    return job;
  }

  /** Returns jobs that were taken but haven't run to the front of the queue. */
  putBack(jobs: readonly Job[]): void {
    this.#jobs.unshift(...jobs);
    for (const { sizeBytes } of jobs) this.#bytes += sizeBytes;
  }

  takeAll(): Job[] {
    const jobs = this.#jobs;
    this.#jobs = [];
    this.#bytes = 0;
    return jobs;
  }
}

/** Runs the statements of one job until it is revoked. */
export interface JobScope extends WriteTx {
  /** True once a statement may have changed something. */
  readonly wrote: boolean;
  revoke(): void;
}

/** The transaction that jobs share. */
export interface JobGroup {
  scope(): JobScope;
  /** Fails work that awaits anything but its statements. */
  within<T>(work: Promise<T>): Promise<T>;
  /** True if the transaction is over, or can only be rolled back. */
  isLost(error?: unknown): boolean;
  /** Clears carried values, because they may describe changes that were undone. */
  forget(): void;
}

/**
 * Runs a job, and its `onError` if it fails. Calls `undo` to revert the changes of a job that failed after writing.
 * Throws if the whole transaction is lost.
 */
export async function runJob(
  group: JobGroup,
  job: Job,
  undo: (cause: unknown) => void | Promise<void>,
): Promise<SettledJob> {
  const first = await attempt(group, job.run, undo);
  const { onError } = job;
  if ('value' in first.outcome || !onError) return { job, ...first };
  const { error } = first.outcome;
  return { job, ...(await attempt(group, (tx) => onError(tx, error), undo)) };
}

async function attempt(
  group: JobGroup,
  run: (tx: WriteTx) => Promise<unknown>,
  undo: (cause: unknown) => void | Promise<void>,
): Promise<Omit<SettledJob, 'job'>> {
  const scope = group.scope();
  try {
    const value = await group.within(run(scope));
    // A full disk or a failed write makes SQLite roll back the whole transaction. Later statements would then run
    // outside a transaction.
    if (group.isLost()) throw new Error('The transaction was rolled back.');
    return { outcome: { value } };
  } catch (error) {
    if (group.isLost(error)) throw error;
    if (scope.wrote) {
      await undo(error);
      group.forget();
    }
    return { outcome: { error } };
  } finally {
    scope.revoke();
  }
}

/** Answers the jobs in order, after COMMIT. */
export function settle(settled: readonly SettledJob[]): void {
  for (const { job, outcome } of settled) {
    if ('value' in outcome) job.resolve(outcome.value);
    else job.reject(outcome.error);
  }
}
