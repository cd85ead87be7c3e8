import Libsql from 'libsql';
import LibsqlAsync from 'libsql/promise';

/**
 * The `libsql` package's client for embedded replicas. Its native code may abort its process. It writes the replica;
 * readers open the file read-only.
 */
export class SyncClient {
  readonly #database: Libsql.Database;

  /** Blocks until the server at `syncUrl` answers. Creates the replica if it's missing. */
  constructor(path: string, syncUrl: string, authToken: string) {
    const options = { syncUrl, authToken };
    this.#database = new Libsql(path, options);
  }

  /** Syncs with the server. Rejects with the native error, whose message contains the HTTP status. */
  async sync(): Promise<void> {
    // The package's async half works on the same native handle, but its constructor can't open a replica.
    await LibsqlAsync.prototype.sync.call(this.#database);
  }
}
