import { Worker } from 'node:worker_threads';
import { unavailable } from '../../../shared/lib/errors.ts';
import type { BaseCopy, ReplicationPosition } from '../../../shared/store/engine/driver.ts';
import type { Effect } from '../context/job.ts';
import type { Batch, Request, ThreadData } from './messages.ts';
import { fromPlain } from './plain-error.ts';
import type { InputOf, OutputOf, CommandName } from '../commands.ts';
import type { WritableProject, Writers, WritersOptions } from './writers.ts';

/** In the bundle, the thread's file is next to this one; from source, in development, tsx loads it. */
const ENTRY = new URL(
  import.meta.url.endsWith('.ts') ? './thread-source.mjs' : './writer.js',
  import.meta.url,
);
/** A batch becomes garbage after its commit. By default V8 grows the young generation this far only under load. */
const YOUNG_GENERATION_MB = 48;

/** A batch leaves at this length or at the end of the turn, so the writer already works while more requests arrive. */
const BATCH_MAX = 8;

type WithoutId<T> = T extends unknown ? Omit<T, 'id'> : never;

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Runs the transactions in a separate thread, so that this one can take requests while SQLite works. Requests of the
 * same event-loop turn travel together.
 */
export class ThreadWriters implements Writers {
  readonly #worker: Worker;
  readonly #onFatal: (error: unknown) => void;
  readonly #pending = new Map<number, Pending>();
  readonly #onCommitted = new Map<string, (effects: readonly Effect[]) => void>();
  readonly #ended: Promise<void>;
  #outbox: Request[] = [];
  #lastId = 0;
  #closing = false;

  /** Tests pass `entry`. */
  constructor({ masterKey, server, onFatal }: WritersOptions, entry = ENTRY) {
    const data: ThreadData = { masterKey, server };
    this.#onFatal = onFatal;
    this.#worker = new Worker(entry, {
      workerData: data,
      name: 'writer',
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    });
    this.#worker.on('message', (batch: Batch) => this.#take(batch));
    this.#worker.on('error', (error) => this.#fail(error));
    this.#ended = new Promise((resolve) => {
      this.#worker.once('exit', () => {
        if (!this.#closing) this.#fail(new Error('The writer thread has ended.'));
        resolve();
      });
    });
  }

  open(
    project: WritableProject,
    onCommitted: (effects: readonly Effect[]) => void,
  ): Promise<Uint8Array> {
    this.#onCommitted.set(project.info.id, onCommitted);
    return this.#ask({ kind: 'open', project });
  }

  run<N extends CommandName>(projectId: string, name: N, input: InputOf<N>): Promise<OutputOf<N>> {
    return this.#ask({ kind: 'run', projectId, name, input });
  }

  follow(projectId: string): Promise<ReplicationPosition> {
    return this.#ask({ kind: 'follow', projectId });
  }

  copyBase(projectId: string): Promise<BaseCopy> {
    return this.#ask({ kind: 'copyBase', projectId });
  }

  catchUp(projectId: string): Promise<void> {
    return this.#ask({ kind: 'catchUp', projectId });
  }

  rotate(projectId: string): Promise<void> {
    return this.#ask({ kind: 'rotate', projectId });
  }

  async closeProject(projectId: string): Promise<void> {
    await this.#ask({ kind: 'closeProject', projectId });
    this.#onCommitted.delete(projectId);
  }

  get waiting(): number {
    return this.#pending.size;
  }

  async close(): Promise<void> {
    this.#closing = true;
    await this.#worker.terminate();
    await this.#ended;
    this.#refusePending(new Error('The writer thread was ended.'));
  }

  #ask<T>(request: WithoutId<Request>): Promise<T> {
    if (this.#closing) return Promise.reject(unavailable(5));
    return new Promise<T>((resolve, reject) => {
      this.#lastId += 1;
      this.#pending.set(this.#lastId, { resolve: resolve as Pending['resolve'], reject });
      this.#outbox.push({ id: this.#lastId, ...request });
      if (this.#outbox.length >= BATCH_MAX) this.#flush();
      else if (this.#outbox.length === 1) setImmediate(() => this.#flush());
    });
  }

  #flush(): void {
    if (this.#outbox.length === 0) return;
    const batch = this.#outbox;
    this.#outbox = [];
    this.#worker.postMessage(batch);
  }

  /** Applies all effects before it settles the requests. */
  #take({ effects, done, failed, fatal }: Batch): void {
    for (const [projectId, effect] of effects) this.#onCommitted.get(projectId)?.([effect]);
    for (const [id, value] of done) this.#pendingOf(id)?.resolve(value);
    for (const [id, error] of failed) this.#pendingOf(id)?.reject(fromPlain(error));
    if (fatal) this.#onFatal(fromPlain(fatal));
  }

  #pendingOf(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    return pending;
  }

  #fail(error: unknown): void {
    this.#closing = true;
    this.#refusePending(error);
    this.#onFatal(error);
  }

  /** Rejects the pending calls with UNAVAILABLE, because nobody knows whether their transactions committed. */
  #refusePending(error: unknown): void {
    for (const { reject } of this.#pending.values()) reject(unavailable(5, error));
    this.#pending.clear();
  }
}
