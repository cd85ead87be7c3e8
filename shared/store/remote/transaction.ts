import type { Client, InStatement, ResultSet, Transaction } from '@libsql/client/http';
import { checked } from '../bindings.ts';
import type { SqlValue } from '../driver.ts';
import { hasEnded } from '../scope.ts';
import { failedIndex } from './failure.ts';

interface Pending {
  readonly statement: InStatement;
  readonly resolve: (result: ResultSet) => void;
  readonly reject: (error: unknown) => void;
}

/** For statements whose answer nobody needs. */
const ignore = (): void => undefined;

const COMMIT = 'COMMIT';

/** The most characters and bytes to send together: a larger request would block others on both sides. */
const BATCH_MAX_SIZE = 1024 * 1024;

/** We sent COMMIT and lost the answer, so nobody knows whether the transaction was committed. */
export class CommitUnknown extends Error {}

/**
 * A transaction on a server, in as few round trips as possible. Statements issued during a request, or before the
 * current jobs wait for something, travel together, and BEGIN travels with the first of them. Within a batch, a
 * statement runs only if the one before it succeeded. After a failure we send only the rollback: the server may have
 * ended the transaction, and later statements would run outside it.
 */
export class RemoteTransaction {
  readonly mode: 'write' | 'read';
  readonly #client: Client;
  #transaction: Transaction | null = null;
  #pending: Pending[] = [];
  #pendingSize = 0;
  #sending: Promise<void> | null = null;
  #isScheduled = false;
  #isBegun = false;
  #isCommitUnknown = false;
  #failure: { readonly error: unknown } | null = null;
  /** Called when answers have arrived, before the callers see them. */
  onAnswer: (() => void) | null = null;

  constructor(client: Client, mode: 'write' | 'read') {
    this.#client = client;
    this.mode = mode;
  }

  /** True once the server has answered BEGIN. */
  get isBegun(): boolean {
    return this.#isBegun;
  }

  /** True while answers are outstanding. */
  get isWaiting(): boolean {
    return this.#isScheduled || this.#sending !== null;
  }

  /** The first failure, as `error`. */
  get failure(): { readonly error: unknown } | null {
    return this.#failure;
  }

  /** Sends the statement together with all others issued before the current microtasks finish. */
  ask(sql: string, params: readonly SqlValue[] = []): Promise<ResultSet> {
    return new Promise((resolve, reject) => {
      this.#pending.push({ statement: toStatement(sql, params), resolve, reject });
      if (this.isWaiting) return;
      this.#isScheduled = true;
      // Unlike a microtask, this runs after all of them.
      process.nextTick(() => {
        this.#isScheduled = false;
        this.flush().catch(ignore);
      });
    });
  }

  /** True if pending statements should be sent before adding more. */
  get isFull(): boolean {
    return this.#pendingSize > BATCH_MAX_SIZE;
  }

  /** Sends the statement with the next `ask` or `flush`. */
  put(sql: string, params: readonly SqlValue[] = []): void {
    this.#pending.push({ statement: toStatement(sql, params), resolve: ignore, reject: ignore });
    for (const value of params) this.#pendingSize += sizeOf(value);
  }

  /** Sends the pending statements. Throws if anything has failed so far. */
  async flush(): Promise<void> {
    if (!this.#sending && !this.#failure && this.#pending.length > 0) this.#sending = this.#send();
    await this.#sending;
    if (!this.#failure) return;
    this.#rejectAll();
    throw this.#failure.error;
  }

  /** Allows only a rollback from now on. */
  spoil(error: unknown): void {
    this.#failure ??= { error };
  }

  /** Sets a savepoint that `revert` goes back to. Throws if anything has failed so far. */
  async save(): Promise<void> {
    this.put('SAVEPOINT job');
    await this.flush();
  }

  /** Undoes everything since `save`, including a failed statement. */
  async revert(): Promise<void> {
    await this.#sending;
    this.#failure = null;
    this.#pending = [];
    this.put('ROLLBACK TO job');
  }

  /** Releases the savepoint; travels with the next statement. */
  release(): void {
    this.put('RELEASE job');
  }

  /** Commits, together with pending statements. Throws CommitUnknown if the answer gets lost. */
  async commit(): Promise<void> {
    this.put(COMMIT);
    try {
      await this.flush();
    } catch (error) {
      throw this.#isCommitUnknown ? new CommitUnknown('', { cause: error }) : error;
    }
    // Tells the server without waiting.
    this.#transaction?.close();
  }

  /** Resolves once the server has undone everything, or can't be reached. */
  async rollback(): Promise<void> {
    this.spoil(hasEnded());
    this.#rejectAll();
    await this.#sending;
    await this.#transaction?.rollback().catch(ignore);
  }

  /**
   * Clears `#sending` in the same step in which it finds nothing pending, so that a later statement starts a new send.
   */
  async #send(): Promise<void> {
    do {
      const batch = this.#pending;
      this.#pending = [];
      this.#pendingSize = 0;
      try {
        this.#transaction ??= await this.#client.transaction(this.mode);
        const results = await this.#transaction.batch(batch.map(({ statement }) => statement));
        this.#isBegun = true;
        this.onAnswer?.();
        batch.forEach(({ resolve }, index) => resolve(results[index] as ResultSet));
      } catch (error) {
        this.#fail(error, batch);
      }
    } while (this.#pending.length > 0 && !this.#failure);
    this.#sending = null;
  }

  #fail(error: unknown, batch: readonly Pending[]): void {
    const index = failedIndex(error);
    this.#isBegun ||= index !== null;
    const isLast = index === null || index === batch.length - 1;
    this.#isCommitUnknown = isLast && isCommit(batch.at(-1));
    this.spoil(error);
    this.onAnswer?.();
    for (const { reject } of batch) reject(error);
  }

  #rejectAll(): void {
    const pending = this.#pending;
    this.#pending = [];
    for (const { reject } of pending) reject(this.#failure?.error);
  }
}

function isCommit(pending: Pending | undefined): boolean {
  const statement = pending?.statement;
  return typeof statement === 'object' && 'sql' in statement && statement.sql === COMMIT;
}

function toStatement(sql: string, params: readonly SqlValue[]): InStatement {
  return { sql, args: checked(params).map(sendable) };
}

function sizeOf(value: SqlValue): number {
  return typeof value === 'string' || value instanceof Uint8Array ? value.length : 0;
}

/** Converts a value to one that a libSQL server accepts as JSON. */
function sendable(value: SqlValue): SqlValue {
  // A lone surrogate would break the whole request. An embedded database stores the same replacement.
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value === 'bigint' && BigInt.asIntN(64, value) !== value) {
    throw new RangeError('A bigint of more than 64 bits cannot be bound.');
  }
  return value;
}
