import type { Client } from '@libsql/client/http';
import { unavailable } from '../../lib/errors.ts';
import type { Reader, Tx } from '../driver.ts';
import { isOfStatement, wrongSetting } from './failure.ts';
import { RetryBudget } from './retry-budget.ts';
import { RemoteScope, withinStatements } from './scope.ts';
import { RemoteTransaction } from './transaction.ts';

/** The most snapshots at a time; further ones wait. */
const MAX_READS = 32;

/** Reads snapshots of a database on a server, in parallel. Retries after network failures. */
export class RemoteReader implements Reader {
  readonly #client: Client;
  readonly #waiting: (() => void)[] = [];
  readonly #ending = new Set<Promise<void>>();
  #running = 0;
  #whenIdle: (() => void) | null = null;
  #closed: Promise<void> | null = null;

  /** The reader closes the client. */
  constructor(client: Client) {
    this.#client = client;
  }

  async read<T>(fn: (tx: Tx) => Promise<T>): Promise<T> {
    if (this.#closed) throw unavailable(5);
    if (this.#running < MAX_READS) this.#running += 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await this.#read(fn);
    } finally {
      this.#leave();
    }
  }

  /** Resolves when current reads are done. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    if (this.#running > 0) {
      await new Promise<void>((resolve) => {
        this.#whenIdle = resolve;
      });
    }
    await Promise.all(this.#ending);
    this.#client.close();
  }

  /** The longest-waiting read runs next. */
  #leave(): void {
    const next = this.#waiting.shift();
    if (next) return next();
    this.#running -= 1;
    if (this.#running === 0) this.#whenIdle?.();
  }

  async #read<T>(fn: (tx: Tx) => Promise<T>): Promise<T> {
    const budget = new RetryBudget();
    for (;;) {
      const transaction = new RemoteTransaction(this.#client, 'read');
      try {
        return await this.#snapshot(fn, transaction);
      } catch (error) {
        const { failure } = transaction;
        if (!failure || isOfStatement(failure.error)) throw error;
        const wrong = wrongSetting(failure.error, !transaction.isBegun);
        if (wrong || !(await budget.lasts())) throw unavailable(5, wrong ?? failure.error);
      } finally {
        this.#end(transaction);
      }
    }
  }

  async #snapshot<T>(fn: (tx: Tx) => Promise<T>, transaction: RemoteTransaction): Promise<T> {
    const scope = new RemoteScope(transaction);
    try {
      const result = await withinStatements(transaction, fn(scope));
      if (transaction.failure) throw transaction.failure.error;
      return result;
    } finally {
      scope.revoke();
    }
  }

  /** Only `close` waits for the rollback. */
  #end(transaction: RemoteTransaction): void {
    const ending = transaction.rollback().finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }
}
