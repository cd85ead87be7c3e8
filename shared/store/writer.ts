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

/** A group ends after this long, so that no commit blocks the event loop for long. */
const GROUP_MAX_MS = 10;
/**
 * Above this size, an idle writer checkpoints and empties the log. Under load it checkpoints at FOLD_ANYWAY_BYTES and
 * rewrites the log in place: the longer the log gets, the longer everyone waits for the checkpoint.
 */
const EMPTY_IDLE_BYTES = 4 * 1024 * 1024;
/** The writer counts as idle if nobody has written for this long. */
const IDLE_MS = 250;
const FOLD_ANYWAY_BYTES = 16 * 1024 * 1024;
/** How soon to retry after a followed log couldn't rotate. */
const RETRY_MS = 60_000;

export interface WriterOptions {
  /** Runs in each group before COMMIT; increments the position. */
  readonly positionSql: string;
  /** A disk write or sync failed: this process must stop using the file. */
  readonly onFatal: (error: unknown) => void;
  /**
   * True while nothing else needs this thread: then COMMIT runs here, without the detour over another thread (default:
   * never).
   */
  readonly mayBlock?: () => boolean;
  /** Set if replicas can follow. */
  readonly replication?: ReplicationOptions;
}

export interface ReplicationOptions extends GenerationOptions {
  /** Returns the position as `value`. */
  readonly positionQuery: string;
  /** Called after each commit, before its jobs are answered, and whenever the log position changes. */
  readonly onReplication: (replication: ReplicationPosition) => void;
}

/**
 * The only writer of a database file, with group commit: queued jobs run inside one `BEGIN IMMEDIATE … COMMIT`,
 * strictly one after another, with one group in flight and no artificial delay. A lone write takes one sync; under
 * load, groups grow automatically. If others need the thread, COMMIT runs off the event loop.
 */
export class EmbeddedWriter implements Writer, FollowedLog {
  readonly #options: WriterOptions;
  readonly #writer: Connection;
  readonly #log: WriteAheadLog;
  readonly #generations: Generations | null;
  #position = 0;
  readonly #queue = new JobQueue();
  /** Work that needs the connection exclusively; it runs before the next group. Never rejects. */
  #errands: (() => Promise<void>)[] = [];
  #pump: Promise<void> | null = null;
  #failed: unknown = null;
  #closing: Promise<void> | null = null;
  #foldAbove = FOLD_ANYWAY_BYTES;
  #usedBytes = 0;
  #lastWriteAt = 0;
  #idleTimer: NodeJS.Timeout | null = null;

  /** `migrate` runs on the writer before anything else. */
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

  /** Checkpoints the log after the current group. Use it after deletions, because the log still has their content. */
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

  /** Finishes queued jobs, checkpoints the log, and closes. */
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

  /** Runs work that needs the connection exclusively, between two groups. */
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
   * Runs queued jobs in one transaction. A job that fails before writing leaves nothing to undo. If a job fails after
   * writing, the whole group rolls back and its jobs run again, each in a savepoint. This is safe because no job has
   * its answer yet, and it saves ordinary groups two statements per job.
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
      // If even BEGIN failed, fail the whole queue; otherwise the next attempt would follow at once, endlessly.
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

  /** Takes jobs from the queue into `jobs` and runs them; null if one failed halfway and the group was rolled back. */
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
    // Fewer bytes mean that the log restarted. If another process keeps it in use, it grows on after a checkpoint; then
    // checkpoint again only after it has grown by the same amount.
    if (this.#usedBytes < before) this.#foldAbove = FOLD_ANYWAY_BYTES;
    if (this.#usedBytes > EMPTY_IDLE_BYTES) this.#emptyWhenIdle();
    if (this.#usedBytes <= this.#foldAbove) return;
    this.#foldAbove = this.#usedBytes + FOLD_ANYWAY_BYTES;
    if (this.#generations?.isKept) await this.#empty();
    else await this.#log.fold().catch((error: unknown) => this.#failGroup(error, []));
  }

  /**
   * Under load the log grows, so that a page written ten times is checkpointed only once; pauses are used to
   * checkpoint.
   */
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
   * The only checkpoints are here, in `#foldWhenDue` and in `Generations`. They wait for readers, each of which is done
   * within a turn of the event loop.
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
  // The daemon holds a lock on the folder, so only an unrelated process can be in the way; waiting for it would stop
  // everyone.
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
