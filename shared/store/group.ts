import { isDiskFailure, type Connection } from './connection.ts';
import type { SharedByGroup, SqlValue, Tx, WriteTx } from './driver.ts';
import { Scope, TurnWatch } from './scope.ts';

/** A queued write. It may run twice, so it does nothing but through its transaction. */
export interface Job {
  readonly sizeBytes: number;
  readonly run: (tx: WriteTx) => Promise<unknown>;
  readonly onError: ((tx: WriteTx, error: unknown) => Promise<unknown>) | undefined;
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

/** What the jobs of one transaction share. */
export class Group implements SharedByGroup {
  readonly connection: Connection;
  readonly carried = new Map<string, unknown>();
  readonly watch = new TurnWatch();
  readonly #finishers = new Map<string, (tx: Tx) => Promise<void>>();

  constructor(connection: Connection) {
    this.connection = connection;
  }

  atEnd(name: string, finisher: (tx: Tx) => Promise<void>): void {
    this.#finishers.set(name, finisher);
  }

  async finish(): Promise<void> {
    const scope = new Scope(this.connection);
    for (const finisher of this.#finishers.values()) await this.watch.within(finisher(scope));
    scope.revoke();
    this.watch.done();
    this.#finishers.clear();
  }

  /** What is carried may speak of what was undone. */
  forget(): void {
    this.carried.clear();
    this.#finishers.clear();
  }
}

/**
 * Runs a job, and its `onError` when it failed. `undo` is called for a failure that had written something and takes the
 * changes back. Throws when the whole transaction is lost.
 */
export async function runJob(
  group: Group,
  job: Job,
  undo: (cause: unknown) => void,
): Promise<Settled> {
  const first = await attempt(group, job.run, undo);
  const { onError } = job;
  if ('value' in first.outcome || !onError) return { job, ...first };
  const { error } = first.outcome;
  return { job, ...(await attempt(group, (tx) => onError(tx, error), undo)) };
}

async function attempt(
  group: Group,
  run: (tx: WriteTx) => Promise<unknown>,
  undo: (cause: unknown) => void,
): Promise<Omit<Settled, 'job'>> {
  const scope = new WriteScope(group);
  try {
    const value = await group.watch.within(run(scope));
    // A full disk or a failed write rolls the whole transaction back by itself. Whatever ran after it would be on its own.
    if (!group.connection.inTransaction) throw new Error('The transaction was rolled back.');
    return { outcome: { value } };
  } catch (error) {
    if (!group.connection.inTransaction || isDiskFailure(error)) throw error;
    if (scope.wrote) {
      undo(error);
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

class WriteScope extends Scope implements WriteTx {
  /** True once a statement may have changed something. */
  wrote = false;
  readonly group: Group;

  constructor(group: Group) {
    super(group.connection);
    this.group = group;
  }

  override run(sql: string, params?: readonly SqlValue[]): Promise<number> {
    this.wrote = true;
    return super.run(sql, params);
  }
}
