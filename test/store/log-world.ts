import { strict as assert } from 'node:assert';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Connection, readOnlyAddress } from '../../shared/store/engine/connection.ts';
import type { CrashPoint } from '../../shared/store/log/generations.ts';
import { temporaryFolder } from '../helpers/gateway.ts';
import { startReplica, type Content, type Replica } from '../helpers/replica.ts';
import { LogProcess } from './log-process.ts';

/** What may happen to a log that is followed. */
export type Step =
  | { readonly kind: 'put'; readonly times: number }
  | { readonly kind: 'remove' | 'undo' | 'rotate' | 'copyBase' | 'sync' | 'kill' | 'close' }
  /** Another reader opens the file, or leaves it. */
  | { readonly kind: 'enter' | 'leave' }
  /** From now on the process dies there. */
  | { readonly kind: 'arm'; readonly point: CrashPoint };

/** The database, another reader, and a replica that must match the database. */
export class LogWorld {
  readonly #program: string;
  readonly #folder = temporaryFolder();
  readonly #path = join(this.#folder.path, 'test.db');
  #log: LogProcess | null = null;
  #stranger: Connection | null = null;
  #replica: { readonly url: string; readonly replica: Replica } | null = null;
  #epoch: string | undefined;
  #armed: CrashPoint | null = null;
  #rows = 0;
  #replicas = 0;
  comparisons = 0;

  /** `program`: see `buildLogProgram`. */
  constructor(program: string) {
    this.#program = program;
  }

  async begin(): Promise<void> {
    await (await this.#started()).put(['first'], 3000);
  }

  async take(step: Step): Promise<void> {
    const log = await this.#started();
    switch (step.kind) {
      case 'enter':
        return this.#enter();
      case 'leave':
        return this.#leave();
      case 'kill':
        return this.#ended(log.kill());
      case 'close':
        return this.#ended(log.close());
      case 'sync':
        return this.#compare(log);
      default:
        await this.#call(log, step);
    }
  }

  /** Compares once more at the end. */
  async end(): Promise<void> {
    this.#leave();
    await this.#ended(this.#log?.kill() ?? Promise.resolve());
    const log = await this.#started();
    await this.#compare(log);
    await log.put(['last'], 3000);
    await log.rotate();
    await this.#compare(log);
  }

  async remove(): Promise<void> {
    await this.#replica?.replica.end();
    await this.#log?.kill();
    this.#stranger?.close();
    this.#folder.remove();
  }

  async #call(log: LogProcess, step: Step): Promise<void> {
    this.#rows += 1;
    try {
      if (step.kind === 'put') await log.put([`row-${this.#rows}`], step.times);
      if (step.kind === 'remove') await log.remove(`row-${this.#rows - 2}`);
      if (step.kind === 'undo') await log.undo(24 * 1024 * 1024);
      if (step.kind === 'rotate') await log.rotate();
      if (step.kind === 'copyBase') await log.copyBase();
      if (step.kind === 'arm') {
        await log.crashAt(step.point);
        this.#armed = step.point;
      }
    } catch (error) {
      const { message } = error as Error;
      // The only error allowed is a copy that a reader blocks.
      if (message === 'died') this.#log = null;
      else if (step.kind !== 'copyBase' || !this.#stranger) throw error;
    }
  }

  async #ended(ending: Promise<unknown>): Promise<void> {
    await ending.catch(() => undefined);
    this.#log = null;
  }

  /** Runs, and keeps its log. */
  async #started(): Promise<LogProcess> {
    if (this.#log) return this.#log;
    const log = await LogProcess.start(this.#program, this.#path);
    if (!log) throw new Error('It did not start.');
    this.#log = log;
    const { replication } = await log.state();
    const epoch = (replication.log ?? (await this.#followed(log)))?.epoch;
    if (epoch !== this.#epoch) {
      // Only then can't anyone tell whether the archive is complete.
      if (this.#epoch !== undefined) assert.equal(this.#armed, 'commit: log begun in place');
      this.#epoch = epoch;
      this.#replicas += 1;
    }
    this.#armed = null;
    return log;
  }

  async #followed(log: LogProcess) {
    // A reader of the log would be in the way.
    this.#leave();
    return (await log.follow()).log;
  }

  async #compare(log: LogProcess, isRepeated = false): Promise<void> {
    const { url, replication, fatal } = await log.state();
    assert.deepEqual(fatal, []);
    assert.equal(replication.log?.epoch, this.#epoch);
    const path = join(this.#folder.path, `replica-${this.#replicas}.db`);
    if (this.#replica?.url !== url) {
      await this.#replica?.replica.end();
      this.#replica = { url, replica: startReplica(path, url) };
    }
    const isFirst = !existsSync(`${path}-info`);
    const copy = await this.#replica.replica.sync();
    if ('error' in copy) {
      if (!isFirst || isRepeated) throw new Error(copy.error);
      return this.#copyAnew(log);
    }
    this.comparisons += 1;
    const content: Content = await log.content();
    assert.deepEqual(copy, content);
    assert.equal(content.integrity, 'ok');
  }

  /**
   * A first copy has to wait until nobody is in the way, and then for the next generation, if the file has some of this
   * one. The process may die while it is made.
   */
  async #copyAnew(log: LogProcess): Promise<void> {
    await this.#replica?.replica.end();
    this.#replica = null;
    this.#replicas += 1;
    const isAlive = await log.state().then(
      () => true,
      () => false,
    );
    if (!isAlive) this.#log = null;
    else if (!this.#stranger) await this.#compare(log, true);
  }

  #enter(): void {
    if (this.#stranger) return;
    // A connection that can write checkpoints when it's the last to close, which ends the history.
    this.#stranger = new Connection(readOnlyAddress(this.#path));
    this.#stranger.exec('BEGIN');
    this.#stranger.get('SELECT count(*) AS n FROM item');
  }

  #leave(): void {
    this.#stranger?.exec('COMMIT');
    this.#stranger?.close();
    this.#stranger = null;
  }
}
