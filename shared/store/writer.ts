import { ServiceError, unavailable } from '../lib/errors.ts';
import { assertPragma, Connection, isDiskFailure } from './connection.ts';
import type {
  BaseCopy,
  FollowedLog,
  ReplicationPosition,
  WriteOptions,
  Writer,
  WriteTx,
} from './driver.ts';
import { Generations, type GenerationOptions } from './generations.ts';
import { Group } from './group.ts';
import {
  GROUP_MAX_JOBS,
  HalfDone,
  JobQueue,
  runJob,
  settle,
  type Job,
  type Settled,
} from './jobs.ts';
import { WriteAheadLog } from './wal.ts';

/** A group ends after this long, so that one commit never holds the event loop for long. */
const GROUP_MAX_MS = 10;
/**
 * The log is folded into the database and emptied when it is this long and nobody waits. Under load it is folded in at the
 * second size and written anew in place: the longer it gets, the longer everybody waits for it then.
 */
const EMPTY_IDLE_BYTES = 4 * 1024 * 1024;
/** Nobody waits when nobody has written for this long. */
const IDLE_MS = 250;
const FOLD_ANYWAY_BYTES = 16 * 1024 * 1024;
/** When a followed log could not be rotated, that is tried again without being asked. */
const RETRY_MS = 60_000;

export interface WriterOptions {
  /** Runs in each group before COMMIT: counts the position up by one. */
  readonly positionSql: string;
  /** A write or sync of the disk failed: this process must not go on with the file. */
  readonly onFatal: (error: unknown) => void;
  /** True while nothing else needs this thread: then COMMIT saves the way to another one. Never, unless given. */
  readonly mayBlock?: () => boolean;
  /** Where replicas may follow. */
  readonly replication?: ReplicationOptions;
}

export interface ReplicationOptions extends GenerationOptions {
  /** Answers the position as `value`. */
  readonly positionQuery: string;
  /** Comes after each commit, before its jobs are answered, and whenever the place of the log has changed. */
  readonly onReplication: (replication: ReplicationPosition) => void;
}

/**
 * The one writer of a database file, with group commit: what is queued runs inside one `BEGIN IMMEDIATE … COMMIT`, the jobs
 * strictly one after another, one group in flight and no artificial delay. Latency of a lone write stays that of one
 * sync; under load groups grow by themselves. Where others need the thread, COMMIT runs off the event loop.
 */
export class EmbeddedWriter implements Writer, FollowedLog {
  readonly #options: WriterOptions;
  readonly #writer: Connection;
  readonly #log: WriteAheadLog;
  readonly #generations: Generations | null;
  #position = 0;
  readonly #queue = new JobQueue();
  /** What needs the connection for itself: it comes before the next group. Never rejects. */
  #errands: (() => Promise<void>)[] = [];
  #pump: Promise<void> | null = null;
  #failed: unknown = null;
  #closing: Promise<void> | null = null;
  #foldAbove = FOLD_ANYWAY_BYTES;
  #usedBytes = 0;
  #lastWriteAt = 0;
  #idleTimer: NodeJS.Timeout | null = null;

  /** `migrate` runs on the writer before anything else may. */
  constructor(path: string, options: WriterOptions, migrate: (connection: Connection) => void) {
    const { replication } = options;
    this.#options = options;
    this.#generations = replication ? new Generations(path, replication) : null;
    this.#writer = openWriter(path);
    migrate(this.#writer);
    this.#log = new WriteAheadLog(path, this.#writer);
    this.#generations?.attach(this.#log);
    if (replication) {
      this.#position = Number(this.#writer.get(replication.positionQuery)?.['value']);
    }
    if (this.#generations?.mustRotate) void this.#alone(() => this.#empty());
  }

  /** Without `replication` the position stays 0. */
  get replication(): ReplicationPosition {
    return { position: this.#position, log: this.#generations?.place ?? null };
  }

  write<T>(fn: (tx: WriteTx) => Promise<T>, options: WriteOptions<T> = {}): Promise<T> {
    if (this.#closing || this.#failed) return Promise.reject(unavailable(5, this.#failed));
    const result = this.#queue.add(fn, options);
    this.#pump ??= this.#drain();
    return result;
  }

  /** Folds the log into the file when the group at hand is done; for after deletions, whose content the log still has. */
  async rotate(): Promise<void> {
    await this.#generations?.copied();
    if (!this.#closing && !this.#failed) await this.#alone(() => this.#empty());
  }

  follow(): Promise<ReplicationPosition> {
    return this.#alone(async () => {
      await this.#kept().follow();
      this.#tell();
      return this.replication;
    });
  }

  async copyBase(): Promise<BaseCopy> {
    const { copying } = await this.#alone(async () => {
      try {
        return await this.#kept().beginCopy();
      } finally {
        this.#tell();
      }
    });
    return copying;
  }

  /** Finishes what is queued, folds the log in, and ends. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    if (this.#idleTimer) clearTimeout(this.#idleTimer);
    await this.#generations?.stopCopying();
    while (this.#pump) await this.#pump;
    if (!this.#failed && this.#log.fileBytes() > 0) await this.#empty();
    if (this.#idleTimer) clearTimeout(this.#idleTimer);
    this.#writer.close();
    this.#log.close();
    this.#generations?.close();
  }

  #kept(): Generations {
    if (!this.#generations) throw new Error('This database has no replicas.');
    return this.#generations;
  }

  /** Runs what needs the connection for itself between two groups. */
  #alone<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closing || this.#failed) return Promise.reject(unavailable(5, this.#failed));
    return new Promise<T>((resolve, reject) => {
      this.#errands.push(async () => {
        try {
          if (this.#failed) throw unavailable(5, this.#failed);
          resolve(await work());
        } catch (error) {
          this.#failGroup(error, []);
          reject(error instanceof ServiceError ? error : unavailable(5, error));
        }
      });
      this.#pump ??= this.#drain();
    });
  }

  async #drain(): Promise<void> {
    try {
      // Requests that arrived in the same turn of the loop share the first commit.
      await new Promise((resolve) => setImmediate(resolve));
      while (this.#queue.length > 0 || this.#errands.length > 0) {
        const errand = this.#errands.shift();
        if (errand) {
          await errand();
          continue;
        }
        await this.#commitGroup();
        if (!this.#failed) await this.#foldWhenDue();
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
      await this.#commit();
      this.#position += 1;
      this.#generations?.look();
      this.#tell();
      settle(settled);
    } catch (error) {
      // When not even BEGIN went through, the whole queue has failed: the next attempt would come at once, and for ever.
      if (jobs.length === 0) jobs.push(...this.#queue.takeAll());
      this.#failGroup(error, jobs);
      if (this.#failed || !this.#generations?.isKept) return;
      this.#generations.look();
      this.#tell();
    }
  }

  #tell(): void {
    this.#options.replication?.onReplication(this.replication);
  }

  async #commit(): Promise<void> {
    if (this.#options.mayBlock?.()) this.#writer.run('COMMIT');
    else await this.#writer.execOffLoop('COMMIT');
  }

  /** Takes jobs from the queue into `jobs` and runs them; null when one failed halfway and all is rolled back. */
  async #runTogether(jobs: Job[]): Promise<Settled[] | null> {
    const group = this.#begin();
    const settled: Settled[] = [];
    const endsAt = performance.now() + GROUP_MAX_MS;
    while (this.#queue.length > 0 && jobs.length < GROUP_MAX_JOBS) {
      const job = this.#queue.take();
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

  #failGroup(error: unknown, jobs: readonly Job[]): void {
    try {
      if (this.#writer.inTransaction) this.#writer.run('ROLLBACK');
    } catch (failure) {
      this.#failed = failure;
    }
    for (const job of jobs) job.reject(unavailable(5, error));
    if (isDiskFailure(error)) this.#failed ??= error;
    if (!this.#failed) return;
    for (const job of this.#queue.takeAll()) job.reject(unavailable(5, error));
    this.#options.onFatal(this.#failed);
  }

  async #foldWhenDue(): Promise<void> {
    this.#lastWriteAt = performance.now();
    const before = this.#usedBytes;
    this.#usedBytes = this.#log.usedBytes();
    // The log was begun anew. When a stranger who reads the file keeps it in use, it grows on after it was folded in:
    // then it is folded in again only when it has grown as much once more.
    if (this.#usedBytes < before) this.#foldAbove = FOLD_ANYWAY_BYTES;
    if (this.#usedBytes > EMPTY_IDLE_BYTES) this.#emptyWhenIdle();
    if (this.#usedBytes <= this.#foldAbove) return;
    this.#foldAbove = this.#usedBytes + FOLD_ANYWAY_BYTES;
    if (this.#generations?.isKept) await this.#empty();
    else await this.#log.fold().catch((error: unknown) => this.#failGroup(error, []));
  }

  /** Under load the log grows, and a page written ten times is folded in once; a pause is used to fold it in. */
  #emptyWhenIdle(inMs = IDLE_MS): void {
    this.#idleTimer ??= setTimeout(() => {
      this.#idleTimer = null;
      if (this.#closing || this.#failed) return;
      const busy = this.#pump !== null || performance.now() - this.#lastWriteAt < IDLE_MS;
      if (busy) this.#emptyWhenIdle();
      else void this.#alone(() => this.#empty());
    }, inMs);
  }

  /**
   * Here, in `#foldWhenDue` and in `Generations` are the only checkpoints. They wait for readers, each of which is done
   * within a turn.
   */
  async #empty(): Promise<void> {
    const generations = this.#generations;
    try {
      if (!generations?.isKept) return await this.#log.empty();
      const isRotated = await generations.rotate();
      this.#tell();
      if (!isRotated) this.#emptyWhenIdle(RETRY_MS);
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
