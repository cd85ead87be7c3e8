import type { Client, Transaction } from '@libsql/client/http';
import type { Reader, Row, SqlValue, Tx } from '../engine/driver.ts';
import { isOfStatement } from './failure.ts';
import { patiently } from './retry.ts';
import { toRows, toStatement } from './values.ts';

/** Reads snapshots of a database on a server, for copies and checks: each statement is a request of its own. */
export class RemoteReader implements Reader {
  readonly #client: Client;

  /** The reader closes the client. */
  constructor(client: Client) {
    this.#client = client;
  }

  /** Tries again for some seconds while the server is in trouble. */
  read<T>(fn: (tx: Tx) => Promise<T>): Promise<T> {
    let trouble: unknown = null;
    const attempt = async (): Promise<T> => {
      const scope = new SnapshotScope(await this.#client.transaction('read'));
      try {
        return await fn(scope);
      } catch (error) {
        const { failure } = scope;
        trouble = isOfStatement(failure) ? null : failure;
        throw trouble ?? error;
      } finally {
        await scope.end();
      }
    };
    return patiently(attempt, (error) => error !== trouble);
  }

  async close(): Promise<void> {
    this.#client.close();
  }
}

/** A snapshot that several reads share, so that they see the same moment however often the database changes. */
export class OneSnapshot implements Reader {
  readonly #tx: Tx;

  constructor(tx: Tx) {
    this.#tx = tx;
  }

  read<T>(fn: (tx: Tx) => Promise<T>): Promise<T> {
    return fn(this.#tx);
  }

  async close(): Promise<void> {
    // Whoever began the snapshot ends it.
  }
}

class SnapshotScope implements Tx {
  /** The first error of the server. */
  failure: unknown = null;
  readonly #transaction: Transaction;

  constructor(transaction: Transaction) {
    this.#transaction = transaction;
  }

  async get<T extends Row>(sql: string, params?: readonly SqlValue[]): Promise<T | undefined> {
    return (await this.all<T>(sql, params))[0];
  }

  async all<T extends Row>(sql: string, params?: readonly SqlValue[]): Promise<T[]> {
    try {
      return toRows(await this.#transaction.execute(toStatement(sql, params))) as T[];
    } catch (error) {
      this.failure ??= error;
      throw error;
    }
  }

  run(): Promise<number> {
    return Promise.reject(new Error('A snapshot is read-only.'));
  }

  async put(): Promise<void> {
    await this.run();
  }

  async end(): Promise<void> {
    await this.#transaction.rollback().catch(() => undefined);
  }
}
