import { randomBytes } from 'node:crypto';
import type { Client, Transaction } from '@libsql/client/http';
import { unavailable } from '../../lib/errors.ts';
import type { Row, SqlValue, Tx, Writer, WriteTx } from '../engine/driver.ts';
import { LAST_GROUP_SQL, POSITION_SQL } from '../tables/meta.ts';
import { isOfStatement } from './failure.ts';
import { toRows, toStatement } from './values.ts';

/**
 * Writes a database on a server without a mirror, one transaction for each job, while nobody else uses it: an import
 * fills it this way. Mirrors see another history and copy the database again.
 */
export class ServerWriter implements Writer {
  readonly #client: Client;
  #last: Promise<unknown> = Promise.resolve();

  /** The tables exist. The writer closes the client. */
  constructor(client: Client) {
    this.#client = client;
  }

  write<T>(fn: (tx: WriteTx) => Promise<T>): Promise<T> {
    const result = this.#last.then(() => this.#write(fn));
    this.#last = result.catch(() => undefined);
    return result;
  }

  /** The server manages its own log. */
  async rotate(): Promise<void> {
    await this.#last;
  }

  async catchUp(): Promise<void> {
    // It reads the server itself.
  }

  async close(): Promise<void> {
    await this.#last;
    this.#client.close();
  }

  async #write<T>(fn: (tx: WriteTx) => Promise<T>): Promise<T> {
    const transaction = await this.#client.transaction('write');
    const scope = new ServerScope(transaction);
    try {
      const result = await fn(scope);
      await scope.end();
      return result;
    } catch (error) {
      const { failure } = scope;
      if (failure === null || isOfStatement(failure)) throw error;
      throw unavailable(5, failure);
    } finally {
      await transaction.rollback().catch(() => undefined);
    }
  }
}

class ServerScope implements Tx {
  readonly group: WriteTx['group'];
  /** The first error of the server. */
  failure: unknown = null;
  readonly #transaction: Transaction;
  readonly #finishers: ((tx: Tx) => Promise<void>)[] = [];

  constructor(transaction: Transaction) {
    this.#transaction = transaction;
    this.group = {
      carried: new Map(),
      atEnd: (_name, finisher) => this.#finishers.push(finisher),
    };
  }

  async get<T extends Row>(sql: string, params?: readonly SqlValue[]): Promise<T | undefined> {
    return (await this.all<T>(sql, params))[0];
  }

  async all<T extends Row>(sql: string, params?: readonly SqlValue[]): Promise<T[]> {
    return toRows(await this.#execute(sql, params)) as T[];
  }

  async run(sql: string, params?: readonly SqlValue[]): Promise<number> {
    return (await this.#execute(sql, params)).rowsAffected;
  }

  async put(sql: string, params?: readonly SqlValue[]): Promise<void> {
    await this.#execute(sql, params);
  }

  async end(): Promise<void> {
    for (const finisher of this.#finishers) await finisher(this);
    await this.run(POSITION_SQL);
    await this.run(LAST_GROUP_SQL, [randomBytes(12).toString('base64url')]);
    await this.#transaction.commit();
  }

  async #execute(sql: string, params?: readonly SqlValue[]) {
    try {
      return await this.#transaction.execute(toStatement(sql, params));
    } catch (error) {
      this.failure ??= error;
      throw error;
    }
  }
}
