import { unavailable } from '../../lib/errors.ts';
import { assertPragma, Connection, readOnlyAddress } from './connection.ts';
import type { Reader, Tx } from './driver.ts';
import { Scope, TurnWatch } from './scope.ts';

/**
 * Reads snapshots of a database file whose writer is in this thread or another. Snapshots run one after another, each
 * within one turn of the event loop.
 */
export class EmbeddedReader implements Reader {
  readonly #connection: Connection;
  #reads: Promise<unknown> = Promise.resolve();
  #closed = false;

  /**
   * The file must exist: its writer creates it. With `readOnly`, closing the last connection leaves the log as it is;
   * otherwise SQLite would checkpoint it.
   */
  constructor(path: string, { readOnly = false } = {}) {
    this.#connection = new Connection(readOnly ? readOnlyAddress(path) : path);
    this.#connection.exec(
      'PRAGMA busy_timeout=200; PRAGMA query_only=ON; PRAGMA wal_autocheckpoint=0; PRAGMA cache_size=-16000; PRAGMA trusted_schema=OFF',
    );
    assertPragma(this.#connection, 'query_only', 1);
  }

  read<T>(fn: (tx: Tx) => Promise<T>): Promise<T> {
    if (this.#closed) return Promise.reject(unavailable(5));
    const result = this.#reads.then(() => this.#snapshot(fn));
    this.#reads = result.catch(() => undefined);
    return result;
  }

  /** Resolves when current reads are done. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#reads;
    this.#connection.close();
  }

  async #snapshot<T>(fn: (tx: Tx) => Promise<T>): Promise<T> {
    const scope = new Scope(this.#connection);
    const watch = new TurnWatch();
    this.#connection.run('BEGIN');
    try {
      return await watch.within(fn(scope));
    } finally {
      watch.done();
      scope.revoke();
      this.#connection.run('COMMIT');
    }
  }
}
