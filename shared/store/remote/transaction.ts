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

/** What asks for nothing, needs no answer. */
const ignore = (): void => undefined;

const COMMIT = 'COMMIT';

/** Characters and bytes that wait to be sent together: more in one request would hold up everybody at both ends. */
const BATCH_MAX_SIZE = 1024 * 1024;

/** Nobody knows whether a transaction was committed: it was asked for, and the answer is lost. */
export class CommitUnknown extends Error {}

/**
 * A transaction on a server, in as few round trips as can be: what is asked for while a request is under way, or before
 * the jobs at hand wait for something, travels together, and BEGIN with the first of it. In each batch a statement runs
 * only when the one before it went well. After a failure nothing is sent any more but what rolls back: the server may
 * have ended the transaction by itself, and what followed would stand on its own.
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
  /** Comes when answers have come, before those who asked see them. */
  onAnswer: (() => void) | null = null;

  constructor(client: Client, mode: 'write' | 'read') {
    this.#client = client;
    this.mode = mode;
  }

  /** True once the server has answered to BEGIN. */
  get isBegun(): boolean {
    return this.#isBegun;
  }

  /** True while answers are awaited. */
  get isWaiting(): boolean {
    return this.#isScheduled || this.#sending !== null;
  }

  /** What went wrong, as `error`. */
  get failure(): { readonly error: unknown } | null {
    return this.#failure;
  }

  /** Travels with all that is asked for before the microtasks at hand are through. */
  ask(sql: string, params: readonly SqlValue[] = []): Promise<ResultSet> {
    return new Promise((resolve, reject) => {
      this.#pending.push({ statement: toStatement(sql, params), resolve, reject });
      if (this.isWaiting) return;
      this.#isScheduled = true;
      // Unlike a microtask, that comes after all of these.
      process.nextTick(() => {
        this.#isScheduled = false;
        this.flush().catch(ignore);
      });
    });
  }

  /** True when what is pending should be sent before more is put to it. */
  get isFull(): boolean {
    return this.#pendingSize > BATCH_MAX_SIZE;
  }

  /** Travels with the next statement that is asked for, or the next `flush`. */
  put(sql: string, params: readonly SqlValue[] = []): void {
    this.#pending.push({ statement: toStatement(sql, params), resolve: ignore, reject: ignore });
    for (const value of params) this.#pendingSize += sizeOf(value);
  }

  /** Sends what is pending. Throws when anything has failed so far. */
  async flush(): Promise<void> {
    if (!this.#sending && !this.#failure && this.#pending.length > 0) this.#sending = this.#send();
    await this.#sending;
    if (!this.#failure) return;
    this.#rejectAll();
    throw this.#failure.error;
  }

  /** Nothing may be done any more but to roll back. */
  spoil(error: unknown): void {
    this.#failure ??= { error };
  }

  /** From here on things can be taken back. Throws when anything has failed so far. */
  async save(): Promise<void> {
    this.put('SAVEPOINT job');
    await this.flush();
  }

  /** Takes back what was asked for since `save`, a failure of a statement as well. */
  async revert(): Promise<void> {
    await this.#sending;
    this.#failure = null;
    this.#pending = [];
    this.put('ROLLBACK TO job');
  }

  /** Ends what `save` began; travels with what comes next. */
  release(): void {
    this.put('RELEASE job');
  }

  /** Makes what was done durable, together with what is pending. CommitUnknown when the answer is lost. */
  async commit(): Promise<void> {
    this.put(COMMIT);
    try {
      await this.flush();
    } catch (error) {
      throw this.#isCommitUnknown ? new CommitUnknown('', { cause: error }) : error;
    }
    // Tells the server, and does not wait.
    this.#transaction?.close();
  }

  /** Resolves when the server has undone everything, or cannot be reached. */
  async rollback(): Promise<void> {
    this.spoil(hasEnded());
    this.#rejectAll();
    await this.#sending;
    await this.#transaction?.rollback().catch(ignore);
  }

  /** Ends in the same step in which it finds nothing more: what is asked for later is sent by itself. */
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

/** What a server of libSQL can be sent in JSON. */
function sendable(value: SqlValue): SqlValue {
  // Half a character would spoil the whole request. An embedded database stores the same in its place.
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value === 'bigint' && BigInt.asIntN(64, value) !== value) {
    throw new RangeError('A bigint of more than 64 bits cannot be bound.');
  }
  return value;
}
