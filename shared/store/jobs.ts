import { unavailable } from '../lib/errors.ts';
import type { Query, WriteOptions, WriteTx } from './driver.ts';

/** Jobs and bytes a writer holds in its queue before it refuses more. */
const QUEUE_MAX_JOBS = 4096;
const QUEUE_MAX_BYTES = 256 * 1024 * 1024;
/** A group ends at this many jobs, so that one commit never takes long. */
export const GROUP_MAX_JOBS = 128;

/** A queued write. It may run twice, so it does nothing but through its transaction. */
export interface Job {
  readonly sizeBytes: number;
  readonly run: (tx: WriteTx) => Promise<unknown>;
  readonly onError: ((tx: WriteTx, error: unknown) => Promise<unknown>) | undefined;
  readonly ahead: readonly Query[];
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** A job that has run but is not durable yet. */
export interface Settled {
  readonly job: Job;
  readonly outcome: { readonly value: unknown } | { readonly error: unknown };
}

/** A job failed after it had written: what it did must be undone. */
export class HalfDone extends Error {}

const NOTHING: readonly Query[] = [];

/** What waits for a writer, in the order it came. */
export class JobQueue {
  #jobs: Job[] = [];
  #bytes = 0;

  get length(): number {
    return this.#jobs.length;
  }

  /** UNAVAILABLE when the queue is full. */
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
        ahead: options.ahead ?? NOTHING,
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

  /** Of jobs that were taken, those that have not run; they are the next ones again. */
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

/** The statements of one job, until it is revoked. */
export interface JobScope extends WriteTx {
  /** True once a statement may have changed something. */
  readonly wrote: boolean;
  revoke(): void;
}

/** The transaction that jobs share. */
export interface JobGroup {
  scope(): JobScope;
  /** Fails work that awaits something other than its statements. */
  within<T>(work: Promise<T>): Promise<T>;
  /** True when the transaction is over, or nothing may be done in it but to roll it back. */
  isLost(error?: unknown): boolean;
  /** What is carried may speak of what was undone. */
  forget(): void;
}

/**
 * Runs a job, and its `onError` when it failed. `undo` is called for a failure that had written something and takes the
 * changes back. Throws when the whole transaction is lost.
 */
export async function runJob(
  group: JobGroup,
  job: Job,
  undo: (cause: unknown) => void | Promise<void>,
): Promise<Settled> {
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
): Promise<Omit<Settled, 'job'>> {
  const scope = group.scope();
  try {
    const value = await group.within(run(scope));
    // A full disk or a failed write rolls the whole transaction back by itself. Whatever ran after it would be on its own.
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

/** After COMMIT: the answers, in the order of the jobs. */
export function settle(settled: readonly Settled[]): void {
  for (const { job, outcome } of settled) {
    if ('value' in outcome) job.resolve(outcome.value);
    else job.reject(outcome.error);
  }
}
