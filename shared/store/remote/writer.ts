import { randomBytes } from 'node:crypto';
import type { Client } from '@libsql/client/http';
import { unavailable, type ServiceError } from '../../lib/errors.ts';
import type {
  BaseCopy,
  FollowedLog,
  ReplicationPosition,
  WriteOptions,
  Writer,
  WriteTx,
} from '../driver.ts';
import {
  GROUP_MAX_JOBS,
  HalfDone,
  JobQueue,
  runJob,
  settle,
  type Job,
  type Settled,
} from '../jobs.ts';
import { LAST_GROUP_SQL, POSITION_QUERY, POSITION_SQL } from '../meta.ts';
import { isOfStatement, uncertain, wrongSetting } from './failure.ts';
import { RemoteGroup } from './group.ts';
import { commitOutcome } from './lost-commit.ts';
import { RetryBudget } from './retry-budget.ts';
import { CommitUnknown, RemoteTransaction } from './transaction.ts';

/** How long a group accepts more jobs, so that neither its callers nor another gateway wait long. */
const GROUP_MAX_MS = 200;
/** Jobs in savepoints take several round trips each. A server lets others wait for about five seconds. */
const APART_MAX_MS = 1000;

export interface RemoteWriterOptions {
  /** Called after each commit, before its jobs are answered. */
  readonly onReplication?: ((replication: ReplicationPosition) => void) | undefined;
  /** Called if another process has written since the last group, before the jobs of the next group run. */
  readonly onForeign?: (() => void) | undefined;
  /** Called if a group's changes were lost or may be lost, before its jobs run again or are refused. */
  readonly onUndone?: (() => void) | undefined;
  /** Called if a group may or may not have been committed, and its jobs were told so. */
  readonly onUncertain?: (() => void) | undefined;
}

/** Another process has written since the last group, so cached state is invalid. */
class Foreign extends Error {}

/** Why an attempt failed. */
interface Trouble {
  readonly cause: unknown;
  /** True if the server, the network or a statement failed, rather than a job's or finisher's own code. */
  readonly isOfServer: boolean;
  /** The server hasn't even answered BEGIN. */
  readonly isFirstRequest: boolean;
}

/** A group that we are trying to commit, perhaps not for the first time. */
interface Attempt {
  readonly jobs: Job[];
  /** A name that stays in the database if the group is committed. */
  readonly token: string;
  readonly budget: RetryBudget;
  /** Each job runs in a savepoint. */
  isApart: boolean;
  /** Wait for the answer to BEGIN before the first job runs. */
  isCareful: boolean;
  /** The position before the group, once the server has answered. */
  base: number;
  settled: readonly Settled[];
}

/**
 * Writes a database on a server, with group commit as for a file: queued jobs run inside one transaction, strictly one
 * after another, with one group in flight. Other processes may write between two groups, so it remembers only the
 * position between groups, which shows whether one did. If the network or the server fails, it retries for about five
 * seconds, with all jobs of the group.
 */
export class RemoteWriter implements Writer, FollowedLog {
  readonly #client: Client;
  readonly #options: RemoteWriterOptions;
  readonly #queue = new JobQueue();
  #position: number;
  #pump: Promise<void> | null = null;
  #closing: Promise<void> | null = null;
  /** The rollback of the newest failed transaction. */
  #ending: Promise<void> = Promise.resolve();
  /** Other processes are writing too, so wait for BEGIN: a group that finds out later has to run twice. */
  #isContested = false;

  /** The tables exist, and `position` is what they contained. The writer closes the client. */
  constructor(client: Client, position: number, options: RemoteWriterOptions) {
    this.#client = client;
    this.#position = position;
    this.#options = options;
  }

  get replication(): ReplicationPosition {
    return { position: this.#position, log: null };
  }

  write<T>(fn: (tx: WriteTx) => Promise<T>, options: WriteOptions<T> = {}): Promise<T> {
    if (this.#closing) return Promise.reject(unavailable(5));
    const result = this.#queue.add(fn, options);
    this.#pump ??= this.#drain();
    return result;
  }

  /** The server manages its own log. */
  async rotate(): Promise<void> {
    await this.#pump;
  }

  follow(): Promise<ReplicationPosition> {
    return Promise.reject(noReplicas());
  }

  copyBase(): Promise<BaseCopy> {
    return Promise.reject(noReplicas());
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    while (this.#pump) await this.#pump;
    await this.#ending;
    this.#client.close();
  }

  async #drain(): Promise<void> {
    try {
      // Requests that arrived in the same turn of the loop share the first commit.
      await new Promise((resolve) => setImmediate(resolve));
      while (this.#queue.length > 0) await this.#commitGroup();
    } finally {
      this.#pump = null;
    }
  }

  async #commitGroup(): Promise<void> {
    const attempt: Attempt = {
      jobs: [],
      token: randomBytes(12).toString('base64url'),
      budget: new RetryBudget(),
      isApart: false,
      isCareful: this.#isContested,
      base: this.#position,
      settled: [],
    };
    this.#isContested = false;
    let error = await this.#try(attempt);
    while (error) {
      error = (await this.#mayRepeat(attempt, error)) ? await this.#try(attempt) : null;
    }
  }

  /** Runs, commits and answers the group; returns the error if it wasn't committed or nobody knows. */
  async #try(attempt: Attempt): Promise<Trouble | null> {
    const transaction = new RemoteTransaction(this.#client, 'write');
    try {
      await this.#run(attempt, transaction);
    } catch (error) {
      const { failure } = transaction;
      // The server makes the next BEGIN wait for the rollback, so we don't have to, which saves a round trip.
      this.#ending = transaction.rollback();
      this.#options.onUndone?.();
      const cause = failure && !(error instanceof CommitUnknown) ? failure.error : error;
      return { cause, isOfServer: failure !== null, isFirstRequest: !transaction.isBegun };
    }
    this.#committed(attempt, attempt.base + 1);
    return null;
  }

  async #run(attempt: Attempt, transaction: RemoteTransaction): Promise<void> {
    const begun = this.#begin(attempt, transaction);
    // Later statements fail with the same error.
    begun.catch(() => undefined);
    if (attempt.isCareful) await begun;
    attempt.settled = await (attempt.isApart
      ? this.#runApart(attempt, transaction)
      : this.#runTogether(attempt, transaction));
    transaction.put(POSITION_SQL);
    transaction.put(LAST_GROUP_SQL, [attempt.token]);
    // Never send BEGIN and COMMIT in one request: if we give a request up and it arrives late, it must not commit
    // anything.
    await begun;
    await transaction.commit();
  }

  /** BEGIN travels with this query, and both travel with the first statements of the first job. */
  async #begin(attempt: Attempt, transaction: RemoteTransaction): Promise<void> {
    const { rows } = await transaction.ask(POSITION_QUERY);
    attempt.base = Number(rows[0]?.['value']);
    const { onForeign } = this.#options;
    if (attempt.base === this.#position || !onForeign) return;
    this.#isContested = true;
    if (!attempt.isCareful) return transaction.spoil(new Foreign());
    this.#position = attempt.base;
    onForeign();
  }

  /**
   * Takes jobs from the queue as long as there are any. It takes all waiting jobs first, because their queries can be
   * sent ahead together.
   */
  async #runTogether({ jobs }: Attempt, transaction: RemoteTransaction): Promise<Settled[]> {
    const group = new RemoteGroup(transaction, false);
    while (jobs.length < GROUP_MAX_JOBS && this.#queue.length > 0) jobs.push(this.#queue.take());
    for (const { ahead } of jobs) for (const query of ahead) group.lookAhead(query);
    const settled: Settled[] = [];
    const endsAt = performance.now() + GROUP_MAX_MS;
    for (;;) {
      if (settled.length > 0 && performance.now() > endsAt) {
        this.#queue.putBack(jobs.splice(settled.length));
      } else if (settled.length === jobs.length && jobs.length < GROUP_MAX_JOBS) {
        if (this.#queue.length > 0) jobs.push(this.#queue.take());
      }
      const job = jobs[settled.length];
      if (!job) break;
      const done = await runJob(group, job, () => {
        throw new HalfDone();
      });
      settled.push(done);
    }
    await group.finish();
    return settled;
  }

  /** Runs each job in a savepoint, after one of them failed halfway or violated a constraint. */
  async #runApart({ jobs }: Attempt, transaction: RemoteTransaction): Promise<Settled[]> {
    const group = new RemoteGroup(transaction, true);
    const settled: Settled[] = [];
    const endsAt = performance.now() + APART_MAX_MS;
    for (const job of jobs) {
      // Send this separately: the server may refuse a whole request, and an earlier failure must not look like this
      // job's.
      await transaction.save();
      settled.push(await runJob(group, job, () => transaction.revert()));
      await group.finish();
      transaction.release();
      if (performance.now() > endsAt) break;
    }
    this.#queue.putBack(jobs.splice(settled.length));
    return settled;
  }

  /** Returns whether to try the group again; if not, its jobs have their answers. */
  async #mayRepeat(attempt: Attempt, trouble: Trouble): Promise<boolean> {
    const { cause } = trouble;
    if (cause instanceof Foreign) {
      attempt.isCareful = true;
      return true;
    }
    if (!attempt.isApart && (cause instanceof HalfDone || isOfStatement(cause))) {
      attempt.isApart = true;
      attempt.isCareful = true;
      return true;
    }
    if (cause instanceof CommitUnknown && !(await this.#isLost(attempt, cause))) return false;
    return this.#mayWait(attempt, trouble);
  }

  /** True if the group was certainly not committed; otherwise its jobs have their answers. */
  async #isLost(attempt: Attempt, { cause }: CommitUnknown): Promise<boolean> {
    const { outcome, position } = await commitOutcome(this.#client, attempt);
    if (outcome === 'committed') this.#committed(attempt, position);
    if (outcome === 'unknown') {
      this.#fail(attempt.jobs, uncertain(cause));
      this.#options.onUncertain?.();
    }
    return outcome === 'lost';
  }

  async #mayWait({ jobs, budget }: Attempt, trouble: Trouble): Promise<boolean> {
    const { cause, isOfServer, isFirstRequest } = trouble;
    const wrong = wrongSetting(cause, isFirstRequest);
    const mayPass = isOfServer && !wrong && !isOfStatement(cause);
    if (mayPass && (await budget.lasts())) return true;
    // Jobs in the queue would get the same error, only later.
    const others = isFirstRequest ? this.#queue.takeAll() : [];
    this.#fail([...jobs, ...others], unavailable(5, wrong ?? cause));
    return false;
  }

  #committed({ settled }: Attempt, position: number): void {
    this.#position = position;
    this.#options.onReplication?.(this.replication);
    settle(settled);
  }

  #fail(jobs: readonly Job[], error: ServiceError): void {
    for (const job of jobs) job.reject(error);
  }
}

function noReplicas(): ServiceError {
  return unavailable(60, new Error('A database on a server has no replicas of ours.'));
}
