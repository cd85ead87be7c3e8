import { refusalOf } from './disk-trouble.ts';
import { ServiceError, unavailable } from '../../lib/errors.ts';
import { isDiskFailure, type Connection } from './connection.ts';
import { OWN_COMMITS, type Commits, type OpenCommits } from './commits.ts';
import { Checkpoints } from './checkpoints.ts';
import type {
  BaseCopy,
  FollowedLog,
  Query,
  ReplicationPosition,
  WriteOptions,
  Writer,
  WriteTx,
} from './driver.ts';
import { Generations, type GenerationOptions } from '../log/generations.ts';
import { Group } from './group.ts';
import {
  GROUP_MAX_JOBS,
  HalfDoneError,
  JobQueue,
  runJob,
  settle,
  type Job,
  type SettledJob,
} from './jobs.ts';
import { POSITION_SQL } from '../tables/meta.ts';
import { SumKeeper, type FileDamage } from '../sums/sum-keeper.ts';
import { WriteAheadLog, type LogHead } from '../log/wal.ts';
import { openWritable, positionOf } from './writer-connection.ts';

/** A group ends after this long, so that no commit blocks the event loop for long. */
const GROUP_MAX_MS = 10;
export interface WriterOptions {
  /** A disk write or sync failed: this process must stop using the file. */
  readonly onFatal: (error: unknown) => void;
  /**
   * True while nothing else needs this thread: then COMMIT runs here, without the detour over another thread (default:
   * never).
   */
  readonly mayBlock?: () => boolean;
  /** Set if replicas can follow. */
  readonly replication?: ReplicationOptions;
  /** The file can be copied again from elsewhere, so it needs no sums. */
  readonly isCopy?: boolean;
  /** Called for each damage that the writer comes across. */
  readonly onDamage?: (damage: FileDamage) => void;
  /** Who decides which groups count (default: this writer). */
  readonly commits?: OpenCommits;
}

interface ReplicationOptions extends GenerationOptions {
  /** Called after each commit, before its jobs are answered, and whenever the log position changes. */
  readonly onReplication: (replication: ReplicationPosition) => void;
}

/** The result of running a group: its jobs' answers, and the statements to repeat elsewhere. */
interface Ran {
  readonly settled: readonly SettledJob[];
  /** Empty unless they're needed. */
  readonly statements: readonly Query[];
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
  /** Null for a copy. */
  readonly #sums: SumKeeper | null;
  readonly #generations: Generations | null;
  readonly #checkpoints: Checkpoints;
  readonly #commits: Commits;
  #position = 0;
  readonly #queue = new JobQueue();
  /** Work that needs the connection exclusively; it runs before the next group. Never rejects. */
  #exclusiveTasks: (() => Promise<void>)[] = [];
  #pump: Promise<void> | null = null;
  #failed: unknown = null;
  #closing: Promise<void> | null = null;

  /** `migrate` runs on the writer before anything else. */
  constructor(path: string, options: WriterOptions, migrate: (connection: Connection) => void) {
    const { replication, isCopy, onDamage, commits } = options;
    this.#options = options;
    this.#generations = replication ? new Generations(path, replication) : null;
    this.#sums = isCopy ? null : new SumKeeper(path, onDamage);
    this.#sums?.examine();
    this.#writer = openWritable(path);
    const note = (head: LogHead): void => this.#sums?.note(head, this.#position);
    this.#log = new WriteAheadLog(path, this.#writer, note);
    try {
      migrate(this.#writer);
      this.#position = positionOf(this.#writer);
    } catch (error) {
      this.#abandon();
      throw error;
    }
    this.#commits = commits?.(this.#writer) ?? OWN_COMMITS;
    this.#generations?.attach(this.#log);
    this.#checkpoints = new Checkpoints({
      log: this.#log,
      generations: this.#generations,
      isBusy: () => this.#pump !== null,
      alone: (work) => {
        if (!this.#closing && !this.#failed) void this.#alone(work);
      },
      announce: () => this.#tell(),
      onError: (error) => this.#failGroup(error, []),
    });
    if (this.#generations?.mustRotate) void this.#alone(() => this.#checkpoints.truncate());
  }

  get replication(): ReplicationPosition {
    return { position: this.#position, log: this.#generations?.position ?? null };
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
    if (!this.#closing && !this.#failed) await this.#alone(() => this.#checkpoints.truncate());
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

  async catchUp(): Promise<void> {
    const known = this.#position;
    const newest = await this.#commits.newest(known);
    const isLost = !(newest >= known);
    if (!isLost && newest <= this.#position) return;
    await this.#alone(async () => {
      this.#commits.refuseLost(known, newest);
      await this.#refresh(newest);
    });
  }

  /** Brings a file up to date after it was opened, if others commit as well. Throws if that isn't possible. */
  async resume(): Promise<void> {
    await this.#refresh(await this.#commits.resumeAt(this.#position));
  }

  /** Finishes queued jobs, checkpoints the log, and closes. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#checkpoints.close();
    await this.#generations?.stopCopying();
    while (this.#pump) await this.#pump;
    if (!this.#failed && this.#log.fileBytes() > 0) await this.#checkpoints.truncate();
    this.#checkpoints.close();
    this.#abandon();
    this.#generations?.close();
    this.#commits.close();
  }

  /** Closing checkpoints the log, which another process may have left. */
  #abandon(): void {
    try {
      this.#sums?.note(this.#log.head(), positionOf(this.#writer));
    } catch {
      // What can't be noted stays in the log.
      return;
    }
    this.#writer.close();
    this.#log.close();
  }

  #kept(): Generations {
    if (!this.#generations) throw new Error('This database has no replicas.');
    return this.#generations;
  }

  /** Runs work that needs the connection exclusively, between two groups. */
  #alone<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closing || this.#failed) return Promise.reject(unavailable(5, this.#failed));
    return new Promise<T>((resolve, reject) => {
      this.#exclusiveTasks.push(async () => {
        try {
          if (this.#failed) throw unavailable(5, this.#failed);
          resolve(await work());
        } catch (error) {
          this.#failGroup(error, []);
          reject(refusalOf(error));
        }
      });
      this.#pump ??= this.#drain();
    });
  }

  async #drain(): Promise<void> {
    try {
      // Requests that arrived in the same turn of the loop share the first commit.
      await new Promise((resolve) => setImmediate(resolve));
      while (this.#queue.length > 0 || this.#exclusiveTasks.length > 0) {
        const task = this.#exclusiveTasks.shift();
        if (task) {
          await task();
          continue;
        }
        await this.#commitGroup();
        if (!this.#failed) await this.#checkpoints.afterGroup();
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
      const settled = await this.#commitJobs(jobs);
      this.#position += 1;
      this.#generations?.refresh();
      this.#tell();
      settle(settled);
    } catch (error) {
      // If even BEGIN failed, or the server, fail the whole queue; otherwise the next attempt would follow at once,
      // endlessly.
      if (jobs.length === 0 || error instanceof ServiceError) jobs.push(...this.#queue.takeAll());
      this.#failGroup(error, jobs);
      if (this.#failed || !this.#generations?.isKept) return;
      this.#generations.refresh();
      this.#tell();
    }
  }

  async #commitJobs(jobs: Job[]): Promise<readonly SettledJob[]> {
    let ran = (await this.#runTogether(jobs)) ?? (await this.#runApart(jobs));
    while (!(await this.#commits.accepts(this.#position, ran.statements))) {
      await this.#refresh(this.#position + 1);
      ran = await this.#runApart(jobs);
    }
    await this.#commit().catch((error: unknown) => {
      throw this.#commits.failureOf(error);
    });
    return ran.settled;
  }

  /** Repeats what was committed elsewhere, at least up to this position. */
  async #refresh(upTo: number): Promise<void> {
    while (this.#position < upTo) {
      const count = await this.#commits.refresh(this.#position);
      await this.#commit();
      this.#position += count;
      this.#generations?.refresh();
      this.#tell();
      this.#commits.tookIn();
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
  async #runTogether(jobs: Job[]): Promise<Ran | null> {
    const group = this.#begin();
    const settled: SettledJob[] = [];
    const endsAt = performance.now() + GROUP_MAX_MS;
    while (this.#queue.length > 0 && jobs.length < GROUP_MAX_JOBS) {
      const job = this.#queue.take();
      jobs.push(job);
      const done = await runJob(group, job, () => {
        throw new HalfDoneError();
      }).catch((error: unknown) => {
        if (error instanceof HalfDoneError) return null;
        throw error;
      });
      if (done === null) {
        this.#writer.run('ROLLBACK');
        return null;
      }
      settled.push(done);
      if (performance.now() > endsAt) break;
    }
    return this.#ran(group, settled);
  }

  async #runApart(jobs: readonly Job[]): Promise<Ran> {
    const group = this.#begin();
    const settled: SettledJob[] = [];
    for (const job of jobs) {
      this.#writer.run('SAVEPOINT job');
      const before = group.statements?.length ?? 0;
      const done = await runJob(group, job, () => {
        this.#writer.run('ROLLBACK TO job');
        group.statements?.splice(before);
      });
      await group.finish();
      this.#writer.run('RELEASE job');
      settled.push(done);
    }
    return this.#ran(group, settled);
  }

  async #ran(group: Group, settled: readonly SettledJob[]): Promise<Ran> {
    await group.finish();
    this.#writer.run(POSITION_SQL);
    return { settled, statements: group.statements ?? [] };
  }

  #begin(): Group {
    this.#writer.run('BEGIN IMMEDIATE');
    return new Group(this.#writer, { records: this.#commits.needsStatements });
  }

  #failGroup(error: unknown, jobs: readonly Job[]): void {
    const hadFailed = this.#failed !== null;
    this.#undo();
    const refusal = refusalOf(error);
    for (const job of jobs) job.reject(refusal);
    const { cause } = refusal;
    const isUseless = this.#commits.failed(error, cause);
    if (isDiskFailure(cause) || isUseless) this.#failed ??= cause;
    if (this.#failed !== null && !hadFailed) this.#stop(refusal);
  }

  #undo(): void {
    try {
      if (this.#writer.inTransaction) this.#writer.run('ROLLBACK');
    } catch (failure) {
      this.#failed = failure;
    }
    this.#commits.undone();
  }

  /** Nothing more is written to this file. */
  #stop(refusal: ServiceError): void {
    for (const job of this.#queue.takeAll()) job.reject(refusal);
    if (!this.#commits.stopped(this.#failed)) this.#options.onFatal(this.#failed);
  }
}
