import Libsql from 'libsql';
import LibsqlAsync from 'libsql/promise';
import { pathToFileURL } from 'node:url';
import { checked, onlyReads } from './bindings.ts';
import { connectionClosed } from './closed-connections.ts';
import type { Row, SqlValue } from './driver.ts';
import { errorCode } from '../../lib/guards.ts';

type Statement = ReturnType<Libsql.Database['prepare']>;

const KEEP_ALIVE_MS = 600_000;

interface PreparedStatement {
  readonly statement: Statement;
  readonly columns: readonly string[];
}

/**
 * One connection of the `libsql` package. It guards against the package's hazards, and only this class does: a boolean,
 * plain object or unusual type bound to a statement aborts the whole process; text with NUL reads back cut; rows carry
 * a `_metadata` key.
 */
export class Connection {
  readonly #database: Libsql.Database;
  readonly #prepared = new Map<string, PreparedStatement>();

  constructor(path: string) {
    this.#database = new Libsql(path);
  }

  get inTransaction(): boolean {
    return this.#database.inTransaction;
  }

  get(sql: string, params: readonly SqlValue[] = []): Row | undefined {
    const { statement, columns } = this.#prepare(sql);
    const values = statement.get(checked(params)) as SqlValue[] | undefined;
    return values && toRow(columns, values);
  }

  all(sql: string, params: readonly SqlValue[] = []): Row[] {
    const { statement, columns } = this.#prepare(sql);
    const rows = statement.all(checked(params)) as SqlValue[][];
    return rows.map((values) => toRow(columns, values));
  }

  run(sql: string, params: readonly SqlValue[] = []): number {
    return this.#prepare(sql).statement.run(checked(params)).changes;
  }

  exec(sql: string): void {
    this.#database.exec(sql);
  }

  /** Runs one statement on a driver thread, so that its disk waits don't block the event loop. */
  async execOffLoop(sql: string): Promise<void> {
    // The driver's thread doesn't keep the process alive; without this timer the process could exit in the middle of a
    // commit.
    const alive = setTimeout(() => undefined, KEEP_ALIVE_MS);
    try {
      // The package's asynchronous and synchronous APIs share the same native handle.
      await LibsqlAsync.prototype.exec.call(this.#database, sql);
    } finally {
      clearTimeout(alive);
    }
  }

  close(): void {
    this.#prepared.clear();
    this.#database.exec('PRAGMA shrink_memory');
    this.#database.close();
    connectionClosed();
  }

  #prepare(sql: string): PreparedStatement {
    const known = this.#prepared.get(sql);
    if (known) return known;
    const statement = this.#database.prepare(sql);
    // Statements that change rows must go through `run`, because that is how we know that a job wrote something.
    if (statement.reader && !onlyReads(sql)) {
      throw new Error('RETURNING is not supported.');
    }
    const columns = statement.reader ? statement.columns().map((column) => column.name) : [];
    if (statement.reader) statement.raw(true);
    const prepared = { statement, columns };
    this.#prepared.set(sql, prepared);
    return prepared;
  }
}

/** An address to pass instead of a path; the connection can't change the file or checkpoint its log on close. */
export function readOnlyAddress(path: string): string {
  return `${pathToFileURL(path).href}?mode=ro`;
}

/** Like `readOnlyAddress`, and the connection sees the file without its log. Nobody may change the file meanwhile. */
export function fileAloneAddress(path: string): string {
  return `${pathToFileURL(path).href}?mode=ro&immutable=1`;
}

function toRow(columns: readonly string[], values: readonly SqlValue[]): Row {
  const row: Row = {};
  columns.forEach((name, index) => {
    row[name] = values[index] ?? null;
  });
  return row;
}

/**
 * A failed disk write or sync. A full disk doesn't count: SQLite rolls back cleanly and recovers. Nor does damage, which
 * ends only the statement that meets it.
 */
export function isDiskFailure(error: unknown): error is Error {
  return errorCode(error)?.startsWith('SQLITE_IOERR') === true;
}

/** The file isn't a sound database. */
export function isDamage(error: unknown): error is Error {
  const code = errorCode(error);
  return code === 'SQLITE_CORRUPT' || code === 'SQLITE_NOTADB';
}

export function isDiskFull(error: unknown): boolean {
  return errorCode(error) === 'SQLITE_FULL';
}

/** Throws unless the connection has this setting. */
export function assertPragma(connection: Connection, name: string, wanted: number): void {
  const row = connection.get(`PRAGMA ${name}`);
  const value = row && Object.values(row)[0];
  if (value !== wanted) throw new Error(`PRAGMA ${name} is ${String(value)}, not ${wanted}.`);
}
