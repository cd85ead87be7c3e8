import Libsql from 'libsql';

export type Prepared = ReturnType<Libsql.Database['prepare']>;

export interface ConnectionsOptions {
  readonly path: string;
  /** SQLite checkpoints the log on its own. */
  readonly checkpoints: boolean;
  readonly synchronous: 'EXTRA' | 'FULL' | 'NORMAL' | 'OFF';
}

/** Closes an idle database's connections after this time: of 2,000 databases, few are busy at once. */
const IDLE_MS = 3000;
const STATEMENTS_MAX = 200;
/** What leaves nothing behind in a connection once its transaction is over. */
const TRACELESS = new Set([
  'BEGIN',
  'COMMIT',
  'DELETE',
  'END',
  'INSERT',
  'RELEASE',
  'REPLACE',
  'ROLLBACK',
  'SAVEPOINT',
  'SELECT',
  'UPDATE',
  'VALUES',
  'WITH',
]);

/** A connection and its prepared statements. */
export class Connection {
  readonly database: Libsql.Database;
  readonly #statements = new Map<string, Prepared>();
  /** The next user gets it as good as new. */
  isReusable = true;

  constructor({ path, checkpoints, synchronous }: ConnectionsOptions) {
    this.database = new Libsql(path);
    this.database.exec(`PRAGMA busy_timeout = 0; PRAGMA synchronous = ${synchronous}`);
    if (!checkpoints) this.database.prepare('PRAGMA wal_autocheckpoint = 0').all([]);
  }

  /** `verb` is the first word of the text, in upper case. */
  prepare(sql: string, verb: string): Prepared {
    const known = this.#statements.get(sql);
    if (known) return known;
    const prepared = this.database.prepare(sql);
    if (!TRACELESS.has(verb)) this.isReusable = false;
    else if (this.#statements.size < STATEMENTS_MAX) this.#statements.set(sql, prepared);
    return prepared;
  }

  close(): void {
    this.#statements.clear();
    this.database.close();
  }
}

/** The connections to a database: to open one and to prepare takes far longer than a statement. */
export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #idle: Connection[] = [];
  #closing: NodeJS.Timeout | undefined;
  #hasEnded = false;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  take(): Connection {
    return this.#idle.pop() ?? new Connection(this.#options);
  }

  /** Its transaction is over. A connection that may have changed tables is closed, and so are those that know the old ones. */
  giveBack(connection: Connection): void {
    if (!connection.isReusable) {
      connection.close();
      this.close();
      return;
    }
    if (this.#hasEnded) return connection.close();
    this.#idle.push(connection);
    this.#closing ??= setTimeout(() => this.close(), IDLE_MS).unref();
    this.#closing.refresh();
  }

  /** Those that nobody uses, and the others once they are given back. */
  end(): void {
    this.#hasEnded = true;
    this.close();
  }

  /** Those that nobody uses. */
  close(): void {
    clearTimeout(this.#closing);
    this.#closing = undefined;
    for (const connection of this.#idle.splice(0)) connection.close();
  }
}
