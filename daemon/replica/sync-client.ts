import Libsql from 'libsql';
import LibsqlAsync from 'libsql/promise';

/**
 * The client of the `libsql` package that keeps a copy of a database over the network. Its native code may abort the
 * process it runs in; it writes, and whoever reads the copy opens it read-only.
 */
export class SyncClient {
  readonly #database: Libsql.Database;

  /** Blocks until the server at `syncUrl` has answered. The copy is made when it is not there. */
  constructor(path: string, syncUrl: string, authToken: string) {
    const options = { syncUrl, authToken };
    this.#database = new Libsql(path, options);
  }

  /** Takes over what the server has. Rejects with the native error, whose message tells the status of an answer. */
  async sync(): Promise<void> {
    // The asynchronous half of the package works on the same native handle; its own constructor cannot open this kind.
    await LibsqlAsync.prototype.sync.call(this.#database);
  }
}
