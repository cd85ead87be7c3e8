import Libsql from 'libsql';
import type { Connection, Connections, Prepared } from './connections.ts';
import {
  ProtocolError,
  SqlError,
  type BatchStep,
  type Condition,
  type HranaError,
  type HranaStatement,
  type SqlText,
  type StatementResult,
  type StreamRequest,
} from './protocol.ts';
import { statementsOf, type SqlStatement } from './sql-text.ts';
import { bind, toHrana, type Bindable, type Bound } from './values.ts';
import type { LockHolder, WriteLock } from './write-lock.ts';

/** What streams of a database did, all together. */
export interface Counters {
  /** HTTP requests with a pipeline. */
  requests: number;
  /** Statements that were run, those that failed too. */
  statements: number;
  /** Transactions begun by BEGIN or SAVEPOINT. */
  transactions: number;
}

export interface StreamOptions {
  readonly connections: Connections;
  readonly lock: WriteLock;
  readonly counters: Counters;
  readonly onClose: () => void;
}

type Response = Readonly<Record<string, unknown>>;

/** Its own connection to the database, and its stored SQL texts. */
export class Stream implements LockHolder {
  readonly #options: StreamOptions;
  readonly #connection: Connection;
  readonly #database: Libsql.Database;
  readonly #texts = new Map<number, string>();
  #isTimedOut = false;
  /** In a transaction that has read: its write lock is not worth a wait once the log is restarted. */
  #hasSnapshot = false;
  /** Committed transactions, including single statements. */
  commits = 0;
  isClosed = false;

  constructor(options: StreamOptions) {
    this.#options = options;
    this.#connection = options.connections.take();
    this.#database = this.#connection.database;
  }

  async answer(request: StreamRequest): Promise<Response> {
    if (this.isClosed) throw new ProtocolError('Stream for this baton was closed');
    switch (request.type) {
      case 'execute':
        return { result: await this.#run(() => this.#execute(request.stmt)) };
      case 'batch':
        return { result: await this.#batch(request.batch.steps) };
      case 'sequence':
        await this.#run(() => this.#sequence(this.#textOf(request)));
        return {};
      case 'describe':
        return { result: this.#describe(this.#textOf(request)) };
      case 'store_sql':
        if (this.#texts.has(request.sql_id)) throw new ProtocolError('SQL text already stored');
        this.#texts.set(request.sql_id, request.sql);
        return {};
      case 'close_sql':
        this.#texts.delete(request.sql_id);
        return {};
      case 'get_autocommit':
        return { is_autocommit: !this.#database.inTransaction };
      case 'close':
        this.close();
        return {};
      default:
        throw new ProtocolError('StreamRequest type not recognized');
    }
  }

  forceRollback(): void {
    this.#isTimedOut = true;
    this.#rollback();
  }

  /** The log is restarted, as `CoreConnection::checkpoint` (`libsql-server/src/connection/connection_core.rs`) does it. */
  async checkpoint(): Promise<void> {
    const { lock } = this.#options;
    await lock.acquire(this, false);
    lock.interrupt();
    this.#database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all([]);
    lock.release(this);
  }

  /** Rolls back an open transaction. */
  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.#rollback();
    this.#options.lock.leave(this);
    this.#options.connections.giveBack(this.#connection);
    this.#options.onClose();
  }

  #rollback(): void {
    if (this.#database.inTransaction) this.#database.exec('ROLLBACK');
    this.#options.lock.release(this);
  }

  /** Refuses work for a transaction that is over, once. */
  async #run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isTimedOut) {
      this.#isTimedOut = false;
      throw timedOut();
    }
    return work();
  }

  async #batch(steps: readonly BatchStep[]): Promise<Response> {
    const results: (StatementResult | null)[] = [];
    const errors: (HranaError | null)[] = [];
    const hasTimedOut = this.#isTimedOut;
    this.#isTimedOut = false;
    for (const { condition, stmt } of steps) {
      let result: StatementResult | null = null;
      let failure: HranaError | null = null;
      try {
        if (hasTimedOut) throw timedOut();
        if (!condition || this.#holds(condition, results, errors))
          result = await this.#execute(stmt);
      } catch (error) {
        failure = errorOf(error);
      }
      results.push(result);
      errors.push(failure);
    }
    return { step_results: results, step_errors: errors };
  }

  #holds(
    condition: Condition,
    results: readonly (StatementResult | null)[],
    errors: readonly (HranaError | null)[],
  ): boolean {
    const holds = (one: Condition): boolean => this.#holds(one, results, errors);
    switch (condition.type) {
      case 'ok':
      case 'error': {
        if (condition.step >= results.length) throw new ProtocolError('Invalid step in condition');
        const outcomes = condition.type === 'ok' ? results : errors;
        return outcomes[condition.step] !== null;
      }
      case 'not':
        return !holds(condition.cond);
      case 'and':
        return condition.conds.every(holds);
      case 'or':
        return condition.conds.some(holds);
      case 'is_autocommit':
        return !this.#database.inTransaction;
      default:
        throw new ProtocolError('BatchCond type not recognized');
    }
  }

  async #sequence(text: string): Promise<void> {
    for (const statement of statementsOf(text)) {
      await this.#step(statement, bind(statement, {}), false);
    }
  }

  #execute(stmt: HranaStatement): Promise<StatementResult> {
    const statement = only(statementsOf(this.#textOf(stmt)));
    return this.#step(statement, bind(statement, stmt), stmt.want_rows ?? true);
  }

  async #step(statement: SqlStatement, bound: Bound, wantRows: boolean): Promise<StatementResult> {
    const { lock, counters } = this.#options;
    counters.statements += 1;
    const prepared = this.#prepare(bound.sql, statement.verb);
    const hadLock = lock.isHeldBy(this);
    if (statement.writes) await lock.acquire(this, this.#hasSnapshot);
    try {
      if (this.isClosed) throw new SqlError('SQLITE_ABORT', 'SQLite error: the stream was closed');
      const wasInTransaction = this.#database.inTransaction;
      const result = this.#perform(statement, prepared, bound.values);
      this.#note(statement, wasInTransaction);
      return wantRows ? result : { ...result, rows: [] };
    } catch (error) {
      // A failed statement stays open and holds its read snapshot.
      this.#connection.isReusable = false;
      // A transaction with an old snapshot can't write: SQLite refused it the lock.
      if (!hadLock && error instanceof SqlError && error.code === 'SQLITE_BUSY') lock.refuse(this);
      throw error;
    } finally {
      if (this.isClosed || !this.#database.inTransaction) lock.release(this);
    }
  }

  #prepare(sql: string, verb: string): Prepared {
    return inSql('SQL_INPUT_ERROR', () => this.#connection.prepare(sql, verb));
  }

  #note({ verb, writes }: SqlStatement, wasInTransaction: boolean): void {
    const { inTransaction } = this.#database;
    if (!wasInTransaction && inTransaction) this.#options.counters.transactions += 1;
    const begins = verb === 'BEGIN' || verb === 'SAVEPOINT';
    this.#hasSnapshot = inTransaction && (this.#hasSnapshot || !begins);
    const ended = wasInTransaction && verb !== 'ROLLBACK';
    if (!inTransaction && (ended || writes)) this.commits += 1;
  }

  #perform(
    { verb, writes }: SqlStatement,
    prepared: Prepared,
    values: readonly Bindable[],
  ): StatementResult {
    return inSql('SQLITE_UNKNOWN', () => {
      if (!prepared.reader) {
        const { changes } = prepared.run([...values]);
        return { cols: [], rows: [], ...this.#changed(verb, writes ? changes : 0) };
      }
      const cols = prepared.columns().map(({ name, type }) => ({ name, decltype: type }));
      const found = rowsOf(prepared, values);
      refuseTooLarge(found);
      const rows = found.map((row) => row.map(toHrana));
      const changes = writes ? Number(this.#read('SELECT changes()')) : 0;
      return { cols, rows, ...this.#changed(verb, changes) };
    });
  }

  #changed(
    verb: string,
    changes: number,
  ): Pick<StatementResult, 'affected_row_count' | 'last_insert_rowid'> {
    const isInsert = verb === 'INSERT' || verb === 'REPLACE';
    const rowId = isInsert ? String(this.#read('SELECT last_insert_rowid()')) : null;
    return { affected_row_count: changes, last_insert_rowid: rowId };
  }

  #describe(text: string): Response {
    const statement = only(statementsOf(text));
    const { parameters, verb, writes, sql } = statement;
    const prepared = this.#prepare(sql, verb);
    const columns = prepared.reader ? prepared.columns() : [];
    const names = new Map(parameters.map(({ index, name }) => [index, name]));
    const count = Math.max(0, ...names.keys());
    return {
      params: Array.from({ length: count }, (_, at) => ({ name: names.get(at + 1) ?? null })),
      cols: columns.map(({ name, type }) => ({ name, decltype: type })),
      is_explain: verb === 'EXPLAIN',
      is_readonly: !writes,
    };
  }

  /** The first value of the first row. */
  #read(sql: string): unknown {
    return rowsOf(this.#connection.prepare(sql, 'SELECT'), [])[0]?.[0];
  }

  #textOf({ sql, sql_id: id }: SqlText): string {
    if (typeof sql === 'string') return sql;
    const stored = typeof id === 'number' ? this.#texts.get(id) : undefined;
    if (stored === undefined) throw new ProtocolError(`SQL text ${id ?? ''} not found`);
    return stored;
  }
}

function only(statements: readonly SqlStatement[]): SqlStatement {
  const [first, ...others] = statements;
  if (!first) throw new SqlError('SQL_NO_STATEMENT', 'SQL string does not contain any statement');
  if (others.length === 0) return first;
  throw new SqlError('SQL_MANY_STATEMENTS', 'SQL string contains more than one statement');
}

/** Reads all rows: a statement that isn't read to its end keeps its lock. */
function rowsOf(prepared: Prepared, values: readonly Bindable[]): unknown[][] {
  prepared.raw(true);
  prepared.safeIntegers(true);
  return prepared.all([...values]) as unknown[][];
}

/** sqld's default for `--max-response-size`. */
const RESPONSE_MAX_BYTES = 10_000_000;

function sizeOf(value: unknown): number {
  return typeof value === 'string' || value instanceof Uint8Array ? value.length : 8;
}

/** As `StatementBuilder` in `libsql-server/src/hrana/result_builder.rs` does it, about. */
function refuseTooLarge(rows: readonly (readonly unknown[])[]): void {
  const bytes = rows.flat().reduce((sum: number, value) => sum + sizeOf(value), 0);
  if (bytes > RESPONSE_MAX_BYTES) throw new SqlError('RESPONSE_TOO_LARGE', 'Response is too large');
}

/** As a server tells: of the extended codes, the part before. `plain` is for errors without a code of their own. */
function inSql<T>(plain: 'SQL_INPUT_ERROR' | 'SQLITE_UNKNOWN', work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Libsql.SqliteError)) throw error;
    const code = /^SQLITE_[A-Z]+/.exec(error.code)?.[0] ?? plain;
    if (code !== 'SQLITE_ERROR') throw new SqlError(code, `SQLite error: ${error.message}`);
    const kind = plain === 'SQL_INPUT_ERROR' ? 'SQL input' : 'SQLite';
    throw new SqlError(plain, `${kind} error: ${error.message}`);
  }
}

/** The error as an answer holds it. Rethrows errors that end the whole request. */
export function errorOf(error: unknown): HranaError {
  if (!(error instanceof SqlError)) throw error;
  return { message: error.message, code: error.code };
}

function timedOut(): SqlError {
  return new SqlError('TRANSACTION_TIMEOUT', 'Transaction timed out');
}
