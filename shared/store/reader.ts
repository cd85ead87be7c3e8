import { unavailable } from '../lib/errors.ts';
import { assertPragma, Connection, readOnlyAddress } from './connection.ts';
import type { Reader, Tx } from './driver.ts';
import { Scope, TurnWatch } from './scope.ts';

/** Snapshots of a database file that some writer keeps, in this thread or another. One after another, each within a turn. */
export class EmbeddedReader implements Reader {
  readonly #connection: Connection;
  #reads: Promise<unknown> = Promise.resolve();
  #closed = false;

  /**
   * The file must be there: its writer makes it. With `readOnly` the log is left as it is even when this is the last
   * connection to be closed, which would otherwise fold it in.
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

  /** Ends after the reads at hand. */
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
