import { unavailable } from '../errors.ts';
import { Connection, isDiskFailure } from './connection.ts';
import type { Database, Tx, WriteTx } from './driver.ts';
import { Group, HalfDone, runJob, settle, type Job, type Settled } from './group.ts';
import { Scope, withinOneTurn } from './scope.ts';
import { rotateWal, walBytes } from './wal.ts';

/** Jobs and bytes a writer holds in its queue before it refuses more. */
const QUEUE_MAX_JOBS = 4096;
const QUEUE_MAX_BYTES = 256 * 1024 * 1024;
/** A group ends at this many jobs, or after this long, so that one commit never holds the event loop for long. */
const GROUP_MAX_JOBS = 128;
const GROUP_MAX_MS = 10;
/**
 * The log is folded into the file when it is this long and nobody waits, or at the second size in any case: the longer
 * it gets, the longer everybody waits for it then.
 */
const ROTATE_IDLE_BYTES = 4 * 1024 * 1024;
/** Nobody waits when nobody has written for this long. */
const IDLE_MS = 250;
const ROTATE_ANYWAY_BYTES = 16 * 1024 * 1024;

interface EmbeddedOptions {
  /** Runs in each group before COMMIT: counts the position up by one. */
  readonly positionSql: string;
  /** A write or sync of the disk failed: this process must not go on with the file. */
  readonly onFatal: (error: unknown) => void;
}

/**
 * A database file with one writer and group commit: what is queued runs inside one `BEGIN IMMEDIATE … COMMIT`, the jobs
 * strictly one after another, one group in flight and no artificial delay. Latency of a lone write stays that of one
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
  #failed: unknown = null;
  #closing: Promise<void> | null = null;
  #rotateAbove = ROTATE_ANYWAY_BYTES;
  #lastWriteAt = 0;
  #idleTimer: NodeJS.Timeout | null = null;

  /** `migrate` runs on the writer before anything else may. */
  constructor(path: string, options: EmbeddedOptions, migrate: (connection: Connection) => void) {
    this.#path = path;
    this.#options = options;
    this.#writer = openWriter(path);
    migrate(this.#writer);
    this.#reader = openReader(path);
  }

  read<T>(fn: (tx: Tx) => Promise<T>): Promise<T> {
    if (this.#closing) return Promise.reject(unavailable(5));
    const result = this.#reads.then(() => this.#snapshot(fn));
    this.#reads = result.catch(() => undefined);
    return result;
  }

  write<T>(
    fn: (tx: WriteTx) => Promise<T>,
    options: { sizeBytes?: number; onError?: (tx: WriteTx, error: unknown) => Promise<T> } = {},
  ): Promise<T> {
    const sizeBytes = options.sizeBytes ?? 0;
    if (this.#closing || this.#failed) return Promise.reject(unavailable(5, this.#failed));
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

  /** Folds the log into the file when the jobs at hand are done; for after deletions, whose content the log still has. */
  async rotate(): Promise<void> {
    while (this.#pump) await this.#pump;
    if (this.#closing || this.#failed) return;
    this.#pump = this.#rotate().then(() => this.#drain());
    await this.#pump;
  }

  /** Finishes what is queued, folds the log in, and ends. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    if (this.#idleTimer) clearTimeout(this.#idleTimer);
    while (this.#pump) await this.#pump;
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
    try {
      // Requests that arrived in the same turn of the loop share the first commit.
      await new Promise((resolve) => setImmediate(resolve));
      while (this.#queue.length > 0) {
        await this.#commitGroup();
        if (!this.#failed) await this.#rotateWhenDue();
      }
    } finally {
      this.#pump = null;
    }
  }

  /**
   * Runs queued jobs in one transaction. A job that fails before it wrote anything leaves nothing to undo. When one fails
   * after, the whole group is rolled back and its jobs run again, each in a savepoint: nothing was answered yet, and so
   * the jobs of an ordinary group are spared two statements each.
   */
  async #commitGroup(): Promise<void> {
    const jobs: Job[] = [];
    try {
      let settled = await this.#runTogether(jobs);
      settled ??= await this.#runApart(jobs);
      this.#writer.run(this.#options.positionSql);
      await this.#writer.execOffLoop('COMMIT');
      settle(settled);
    } catch (error) {
      // When not even BEGIN went through, the whole queue has failed: the next attempt would come at once, and for ever.
      if (jobs.length === 0) while (this.#queue.length > 0) jobs.push(this.#take());
      this.#failGroup(error, jobs);
    }
  }

  /** Takes jobs from the queue into `jobs` and runs them; null when one failed halfway and all is rolled back. */
  async #runTogether(jobs: Job[]): Promise<Settled[] | null> {
    const group = this.#begin();
    const settled: Settled[] = [];
    const endsAt = performance.now() + GROUP_MAX_MS;
    while (this.#queue.length > 0 && jobs.length < GROUP_MAX_JOBS) {
      const job = this.#take();
      jobs.push(job);
      const done = await runJob(group, job, () => {
        throw new HalfDone();
      }).catch((error: unknown) => {
        if (error instanceof HalfDone) return null;
        throw error;
      });
      if (done === null) {
        this.#writer.run('ROLLBACK');
        return null;
      }
      settled.push(done);
      if (performance.now() > endsAt) break;
    }
    await group.finish();
    return settled;
  }

  async #runApart(jobs: readonly Job[]): Promise<Settled[]> {
    const group = this.#begin();
    const settled: Settled[] = [];
    for (const job of jobs) {
      this.#writer.run('SAVEPOINT job');
      const done = await runJob(group, job, () => {
        this.#writer.run('ROLLBACK TO job');
      });
      await group.finish();
      this.#writer.run('RELEASE job');
      settled.push(done);
    }
    return settled;
  }

  #begin(): Group {
    this.#writer.run('BEGIN IMMEDIATE');
    return new Group(this.#writer);
  }

  #take(): Job {
    const job = this.#queue.shift();
    if (!job) throw new Error('The write queue is empty.');
    this.#queuedBytes -= job.sizeBytes;
    return job;
  }

  #failGroup(error: unknown, jobs: readonly Job[]): void {
    try {
      if (this.#writer.inTransaction) this.#writer.run('ROLLBACK');
    } catch (failure) {
      this.#failed = failure;
    }
    for (const job of jobs) job.reject(unavailable(5, error));
    if (isDiskFailure(error)) this.#failed ??= error;
    if (!this.#failed) return;
    for (const job of this.#queue) job.reject(unavailable(5, error));
    this.#queue = [];
    this.#options.onFatal(this.#failed);
  }

  async #rotateWhenDue(): Promise<void> {
    this.#lastWriteAt = performance.now();
    const bytes = walBytes(this.#path);
    if (bytes > this.#rotateAbove) await this.#rotate();
    else if (bytes > ROTATE_IDLE_BYTES) this.#rotateWhenIdle();
  }

  /** Under load the log grows, and a page written ten times is folded in once; a pause is used to fold it in. */
  #rotateWhenIdle(): void {
    this.#idleTimer ??= setTimeout(() => {
      this.#idleTimer = null;
      if (this.#closing || this.#failed || walBytes(this.#path) <= ROTATE_IDLE_BYTES) return;
      const busy = this.#pump !== null || performance.now() - this.#lastWriteAt < IDLE_MS;
      if (busy) this.#rotateWhenIdle();
      else this.#pump = this.#rotate().then(() => this.#drain());
    }, IDLE_MS);
  }

  /** The only place that checkpoints. Readers are drained, so that the log is folded in whole. */
  async #rotate(): Promise<void> {
    const rotation = this.#reads.then(() => rotateWal(this.#writer, this.#path));
    this.#reads = rotation.catch(() => undefined);
    try {
      const left = await rotation;
      // A stranger who reads the file keeps the log in use: try again only when it has grown as much once more.
      this.#rotateAbove = left + ROTATE_ANYWAY_BYTES;
    } catch (error) {
      this.#failGroup(error, []);
    }
  }
}

function openWriter(path: string): Connection {
  const connection = new Connection(path);
  // The daemon holds a lock on the folder, so only a stranger can be in the way; waiting for him stops everybody.
  connection.get('PRAGMA busy_timeout=200');
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
    'PRAGMA busy_timeout=200; PRAGMA query_only=ON; PRAGMA wal_autocheckpoint=0; PRAGMA cache_size=-16000',
  );
  assertPragma(connection, 'query_only', 1);
  return connection;
}

function assertPragma(connection: Connection, name: string, wanted: number): void {
  const row = connection.get(`PRAGMA ${name}`);
  const value = row && Object.values(row)[0];
  if (value !== wanted) throw new Error(`PRAGMA ${name} is ${String(value)}, not ${wanted}.`);
}
