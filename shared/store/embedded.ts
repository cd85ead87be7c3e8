import { unavailable } from '../errors.ts';
import { Connection } from './connection.ts';
import type { Database, Row, SqlValue, Tx, WriteTx } from './driver.ts';
import { rotateWal, walBytes } from './wal.ts';

/** Jobs and bytes a writer holds in its queue before it refuses more. */
const QUEUE_MAX_JOBS = 4096;
const QUEUE_MAX_BYTES = 256 * 1024 * 1024;
/** A group ends at this many jobs, or after this long, so that one commit never holds the event loop for long. */
const GROUP_MAX_JOBS = 128;
const GROUP_MAX_MS = 10;
/** The log is folded into the file when it is this long and nobody waits, or at the second size in any case. */
const ROTATE_IDLE_BYTES = 4 * 1024 * 1024;
const ROTATE_ANYWAY_BYTES = 64 * 1024 * 1024;

interface Job {
  readonly sizeBytes: number;
  readonly run: (tx: WriteTx) => Promise<unknown>;
  readonly onError: ((tx: WriteTx, error: unknown) => Promise<unknown>) | undefined;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

interface Settled {
  readonly job: Job;
  readonly outcome: { readonly value: unknown } | { readonly error: unknown };
  readonly effects: readonly (() => void)[];
}

interface EmbeddedOptions {
  /** Runs in each group before COMMIT: counts the position up by one. */
  readonly positionSql: string;
  /** A write or sync of the disk failed: this process must not go on with the file. */
  readonly onFatal: (error: unknown) => void;
}

/**
 * A database file with one writer and group commit: what is queued runs inside one `BEGIN IMMEDIATE … COMMIT`, each job
 * in a savepoint of its own, one group in flight and no artificial delay. Latency of a lone write stays that of one
 * sync; under load groups grow by themselves. COMMIT runs off the event loop, so that the next group gathers meanwhile.
 */
export class EmbeddedDatabase implements Database {
  readonly #path: string;
  readonly #options: EmbeddedOptions;
  readonly #writer: Connection;
  readonly #reader: Connection;
  #queue: Job[] = [];
  #queuedBytes = 0;
  #pump: Promise<void> | null = null;
  #reads: Promise<unknown> = Promise.resolve();
  readonly #carried = new Map<string, unknown>();
  #failed: unknown = null;
  #closed = false;
  #walBytes = 0;

  /** `migrate` runs on the writer before anything else may. */
  constructor(path: string, options: EmbeddedOptions, migrate: (connection: Connection) => void) {
    this.#path = path;
    this.#options = options;
    this.#writer = openWriter(path);
    migrate(this.#writer);
    this.#reader = openReader(path);
    this.#walBytes = walBytes(path);
  }

  read<T>(fn: (tx: Tx) => Promise<T>): Promise<T> {
    const result = this.#reads.then(() => this.#snapshot(fn));
    this.#reads = result.catch(() => undefined);
    return result;
  }

  write<T>(
    fn: (tx: WriteTx) => Promise<T>,
    options: { sizeBytes?: number; onError?: (tx: WriteTx, error: unknown) => Promise<T> } = {},
  ): Promise<T> {
    const sizeBytes = options.sizeBytes ?? 0;
    if (this.#closed || this.#failed) return Promise.reject(unavailable(5, this.#failed));
    if (this.#queue.length >= QUEUE_MAX_JOBS || this.#queuedBytes + sizeBytes > QUEUE_MAX_BYTES) {
      return Promise.reject(unavailable(1, new Error('The write queue is full.')));
    }
    return new Promise<T>((resolve, reject) => {
      this.#queuedBytes += sizeBytes;
      this.#queue.push({
        sizeBytes,
        run: fn,
        onError: options.onError,
        resolve: resolve as (value: unknown) => void,
        reject,
      });
      this.#pump ??= this.#drain();
    });
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#pump;
    await this.#reads;
    if (!this.#failed && walBytes(this.#path) > 0) await this.#rotate();
    this.#reader.close();
    this.#writer.close();
  }

  async #snapshot<T>(fn: (tx: Tx) => Promise<T>): Promise<T> {
    const scope = new Scope(this.#reader);
    this.#reader.run('BEGIN');
    try {
      return await withinOneTurn(fn(scope));
    } finally {
      scope.revoke();
      this.#reader.run('COMMIT');
    }
  }

  async #drain(): Promise<void> {
    // One turn of the loop lets requests that arrived together share the first commit.
    await Promise.resolve();
    while (this.#queue.length > 0) {
      await this.#commitGroup();
      await this.#rotateWhenDue();
    }
    this.#pump = null;
  }

  async #commitGroup(): Promise<void> {
    const settled: Settled[] = [];
    let current: Job | null = null;
    this.#carried.clear();
    try {
      this.#writer.run('BEGIN IMMEDIATE');
      const endsAt = performance.now() + GROUP_MAX_MS;
      while (this.#queue.length > 0 && settled.length < GROUP_MAX_JOBS) {
        current = this.#take();
        settled.push(await this.#runJob(current));
        current = null;
        if (performance.now() > endsAt) break;
      }
      this.#writer.run(this.#options.positionSql);
      await this.#writer.execOffLoop('COMMIT');
    } catch (error) {
      this.#failGroup(error, [...settled.map((one) => one.job), ...(current ? [current] : [])]);
      return;
    }
    for (const { outcome, effects } of settled) {
      if ('value' in outcome) for (const effect of effects) effect();
    }
    for (const { job, outcome } of settled) {
      if ('value' in outcome) job.resolve(outcome.value);
      else job.reject(outcome.error);
    }
  }

  #take(): Job {
    const job = this.#queue.shift();
    if (!job) throw new Error('The write queue is empty.');
    this.#queuedBytes -= job.sizeBytes;
    return job;
  }

  /** Runs one job in its savepoint. Throws only when the whole transaction is lost. */
  async #runJob(job: Job): Promise<Settled> {
    this.#writer.run('SAVEPOINT job');
    let attempt = await this.#attempt(job.run);
    const { onError } = job;
    if ('error' in attempt.outcome && onError) {
      const { error } = attempt.outcome;
      this.#undo(error);
      attempt = await this.#attempt((tx) => onError(tx, error));
    }
    if ('error' in attempt.outcome) this.#undo(attempt.outcome.error);
    this.#writer.run('RELEASE job');
    return { job, ...attempt };
  }

  async #attempt(fn: (tx: WriteTx) => Promise<unknown>): Promise<Omit<Settled, 'job'>> {
    const scope = new WriteScope(this.#writer, this.#carried);
    try {
      const value = await withinOneTurn(fn(scope));
      return { outcome: { value }, effects: scope.effects };
    } catch (error) {
      return { outcome: { error }, effects: [] };
    } finally {
      scope.revoke();
    }
  }

  #undo(cause: unknown): void {
    // A full disk or a failed write has already rolled the whole transaction back.
    if (!this.#writer.inTransaction) throw cause;
    this.#carried.clear();
    this.#writer.run('ROLLBACK TO job');
  }

  #failGroup(error: unknown, jobs: readonly Job[]): void {
    if (this.#writer.inTransaction) this.#writer.run('ROLLBACK');
    for (const job of jobs) job.reject(unavailable(5, error));
    if (isDiskFailure(error)) {
      this.#failed = error;
      for (const job of this.#queue) job.reject(unavailable(5, error));
      this.#queue = [];
      this.#options.onFatal(error);
    }
  }

  async #rotateWhenDue(): Promise<void> {
    this.#walBytes = walBytes(this.#path);
    const idle = this.#queue.length === 0;
    if (this.#walBytes > (idle ? ROTATE_IDLE_BYTES : ROTATE_ANYWAY_BYTES)) await this.#rotate();
  }

  /** The only place that checkpoints. Readers are drained, so that the log is folded in whole. */
  async #rotate(): Promise<void> {
    const rotation = this.#reads.then(() => rotateWal(this.#writer));
    this.#reads = rotation.catch(() => undefined);
    await rotation.catch((error: unknown) => {
      if (isDiskFailure(error)) this.#failGroup(error, []);
    });
  }
}

function openWriter(path: string): Connection {
  const connection = new Connection(path);
  connection.get('PRAGMA busy_timeout=5000');
  connection.get('PRAGMA page_size=4096');
  connection.get('PRAGMA journal_mode=WAL');
  connection.exec(
    'PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=0; PRAGMA secure_delete=ON; PRAGMA foreign_keys=ON; PRAGMA cache_size=-16000',
  );
  assertPragma(connection, 'synchronous', 2);
  assertPragma(connection, 'page_size', 4096);
  assertPragma(connection, 'wal_autocheckpoint', 0);
  return connection;
}

function openReader(path: string): Connection {
  const connection = new Connection(path);
  connection.exec(
    'PRAGMA busy_timeout=5000; PRAGMA query_only=ON; PRAGMA wal_autocheckpoint=0; PRAGMA cache_size=-16000',
  );
  assertPragma(connection, 'query_only', 1);
  return connection;
}

function assertPragma(connection: Connection, name: string, wanted: number): void {
  const row = connection.get(`PRAGMA ${name}`);
  const value = row && Object.values(row)[0];
  if (value !== wanted) throw new Error(`PRAGMA ${name} is ${String(value)}, not ${wanted}.`);
}

/** A disk that failed a write or a sync; a full disk is not that: it rolls back cleanly and recovers. */
function isDiskFailure(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return code.startsWith('SQLITE_IOERR') || code === 'SQLITE_CORRUPT' || code === 'SQLITE_NOTADB';
}

/**
 * The embedded driver answers within microtasks, so whatever has not settled by the next turn of the event loop awaits
 * something else, and would hold the transaction open for all others.
 */
function withinOneTurn<T>(work: Promise<T>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const late = setImmediate(() =>
      reject(new Error('A transaction awaited something other than its statements.')),
    );
    const settle = (): void => clearImmediate(late);
    work.then(resolve, reject).finally(settle);
  });
}

class Scope implements Tx {
  readonly #connection: Connection;
  #live = true;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  revoke(): void {
    this.#live = false;
  }

  // eslint-disable-next-line typescript/require-await -- the interface is asynchronous; this driver is not
  async get<T extends Row>(sql: string, params?: readonly SqlValue[]): Promise<T | undefined> {
    return this.#open().get(sql, params) as T | undefined;
  }

  async all<T extends Row>(sql: string, params?: readonly SqlValue[]): Promise<T[]> {
    return this.#open().all(sql, params) as T[];
  }

  async run(sql: string, params?: readonly SqlValue[]): Promise<number> {
    return this.#open().run(sql, params);
  }

  #open(): Connection {
    if (!this.#live) throw new Error('This transaction has ended.');
    return this.#connection;
  }
}

class WriteScope extends Scope implements WriteTx {
  readonly effects: (() => void)[] = [];
  readonly carried: Map<string, unknown>;

  constructor(connection: Connection, carried: Map<string, unknown>) {
    super(connection);
    this.carried = carried;
  }

  afterCommit(effect: () => void): void {
    this.effects.push(effect);
  }
}
