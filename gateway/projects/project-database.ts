import type { ProjectInfo } from '../../shared/kernel/context.ts';
import { unavailable } from '../../shared/lib/errors.ts';
import { makeFolder } from '../../shared/host/make-folder.ts';
import type { BaseCopy, Reader, ReplicationPosition } from '../../shared/store/driver.ts';
import type { DatabaseLocation } from '../../shared/store/location.ts';
import { ProjectReader } from '../../shared/store/project-store.ts';
import { openReader } from '../../shared/store/open.ts';
import type { PooledDatabase, DatabasePool } from './database-pool.ts';
import type { WriteGate } from './write-gate.ts';
import type { Effect } from '../commit/job.ts';
import type { InputOf, OutputOf, CommandName } from '../commit/commands.ts';
import type { ProjectWrites, Writers } from '../commit/writers.ts';

/** What the files of a project need of what is around them. */
export interface ProjectDatabaseDeps {
  readonly info: ProjectInfo;
  /** The project's own; made when it is not there. */
  readonly folder: string;
  /** Of its database. */
  readonly location: DatabaseLocation;
  /** See `WritableProject`. */
  readonly pinHolder: string | null;
  /** The database was made before: see `WritableProject`. */
  readonly isMade: boolean;
  readonly writers: Writers;
  readonly pool: DatabasePool;
  readonly gate: WriteGate;
  /** Gets the effects of what was committed. */
  onCommitted(effects: readonly Effect[]): void;
  /** Whether somebody waits on the project for longer than a call takes: its files stay open. */
  isPinned(): boolean;
  /** Comes before the first write after a rest, and is durable when it resolves. */
  beginWork(): Promise<void>;
  /**
   * Comes when the files are to be closed and something was written, for a last look at them. What it answers is called
   * once they are closed: from then on the project rests. Null when it is not to be called resting.
   */
  beforeIdle(store: ProjectReader): Promise<(() => void) | null>;
  /** They are closed: what is known of the log holds no longer. */
  closed(): void;
  /** They could not be closed, or not looked at. */
  onError(error: unknown): void;
}

interface Open {
  readonly reader: Reader;
  readonly ledgerKey: Uint8Array;
}

interface Caller {
  readonly admit: (open: Open) => void;
  readonly refuse: (error: unknown) => void;
}

/**
 * The database of one project, opened by the first call that needs it, and closed when the pool needs room. Callers only
 * see a delay: closing waits for the calls under way, and later calls open it again.
 */
export class ProjectDatabase implements Reader, ProjectWrites, PooledDatabase {
  readonly #deps: ProjectDatabaseDeps;
  #open: Open | null = null;
  #isEvicting = false;
  #isEnded = false;
  /** The files are being opened or closed. Never rejects. */
  #transition: Promise<void> | null = null;
  /** Who waits until they are open. */
  #callers: Caller[] = [];
  #calls = 0;
  #whenUnused: (() => void) | null = null;
  #usedAt = 0;
  /** Nothing was written since `beforeIdle`. */
  #isIdle: boolean;
  #beginning: Promise<void> | null = null;
  #ledgerKey: Uint8Array | null = null;

  /** `isIdle`: so an earlier run has left the project. */
  constructor(deps: ProjectDatabaseDeps, isIdle: boolean) {
    this.#deps = deps;
    this.#isIdle = isIdle;
  }

  get isOpen(): boolean {
    return this.#open !== null && this.#transition === null;
  }

  get isInUse(): boolean {
    return this.#calls > 0;
  }

  get isPinned(): boolean {
    return this.#deps.isPinned();
  }

  get usedAt(): number {
    return this.#usedAt;
  }

  /** The key of the digests in the project's ledger: known for good once the files were open. */
  async ledgerKey(): Promise<Uint8Array> {
    return this.#ledgerKey ?? this.#use(async ({ ledgerKey }) => ledgerKey);
  }

  read: Reader['read'] = (fn) =>
    this.#deps.gate.read(() => this.#use(({ reader }) => reader.read(fn)));

  run<N extends CommandName>(name: N, input: InputOf<N>): Promise<OutputOf<N>> {
    const { gate, info, writers } = this.#deps;
    return gate.write(name, () =>
      this.#use(() =>
        this.#isIdle
          ? this.#work().then(() => writers.run(info.id, name, input))
          : writers.run(info.id, name, input),
      ),
    );
  }

  follow(): Promise<ReplicationPosition> {
    const { gate, info, writers } = this.#deps;
    return gate.read(() => this.#use(() => writers.follow(info.id)));
  }

  copyBase(): Promise<BaseCopy> {
    const { gate, info, writers } = this.#deps;
    return gate.read(() => this.#use(() => writers.copyBase(info.id)));
  }

  rotate(): Promise<void> {
    const { info, writers } = this.#deps;
    return this.#use(() => writers.rotate(info.id));
  }

  /** There is something to be written down, though nothing was written here. */
  wake(): void {
    this.#isIdle = false;
  }

  /** As if it had come to rest: the next write is noted. */
  markIdle(): void {
    this.#isIdle = true;
  }

  evict(): Promise<void> {
    if (!this.isOpen) return this.#transition ?? Promise.resolve();
    this.#isEvicting = true;
    return this.#transitionTo(() => this.#shut());
  }

  /** Ends after the calls at hand, and admits no more. */
  async close(): Promise<void> {
    this.#isEnded = true;
    while (this.#transition) await this.#transition;
    await this.evict();
  }

  async #use<T>(work: (open: Open) => Promise<T>): Promise<T> {
    const open = this.#open && !this.#isEvicting ? this.#enter(this.#open) : await this.#opened();
    try {
      return await work(open);
    } finally {
      this.#calls -= 1;
      if (this.#calls === 0) this.#unused();
    }
  }

  #enter(open: Open): Open {
    this.#calls += 1;
    return open;
  }

  #unused(): void {
    this.#usedAt = performance.now();
    this.#whenUnused?.();
    this.#deps.pool.settle();
  }

  #opened(): Promise<Open> {
    if (this.#isEnded) return Promise.reject(unavailable(5));
    return new Promise((admit, refuse) => {
      this.#callers.push({ admit, refuse });
      if (!this.#transition) void this.#transitionTo(() => this.#openUp());
    });
  }

  #transitionTo(work: () => Promise<void>): Promise<void> {
    this.#transition = this.#runTransition(work);
    return this.#transition;
  }

  async #runTransition(work: () => Promise<void>): Promise<void> {
    await work();
    this.#transition = null;
    if (this.#callers.length > 0) void this.#transitionTo(() => this.#openUp());
    // From here on the pool may evict this one for another.
    this.#deps.pool.settle();
  }

  async #openUp(): Promise<void> {
    const { pool } = this.#deps;
    await pool.enter(this);
    try {
      const open = await this.#openSides();
      this.#open = open;
      this.#ledgerKey = open.ledgerKey;
      // Counted before anybody may close the files again.
      for (const { admit } of this.#callers.splice(0)) admit(this.#enter(open));
    } catch (error) {
      for (const { refuse } of this.#callers.splice(0)) refuse(error);
      pool.release(this);
    }
  }

  async #openSides(): Promise<Open> {
    const { info, folder, location, pinHolder, isMade, writers } = this.#deps;
    makeFolder(folder);
    const ledgerKey = await writers.open({ info, location, pinHolder, isMade }, (effects) =>
      this.#deps.onCommitted(effects),
    );
    try {
      return { reader: await openReader(location), ledgerKey };
    } catch (error) {
      await writers.closeProject(info.id);
      throw error;
    }
  }

  async #shut(): Promise<void> {
    if (this.#calls > 0) await new Promise<void>((resolve) => (this.#whenUnused = resolve));
    this.#whenUnused = null;
    try {
      if (this.#open) await this.#closeSides(this.#open);
    } catch (error) {
      this.#deps.onError(error);
    }
    this.#open = null;
    this.#isEvicting = false;
    this.#deps.closed();
    this.#deps.pool.release(this);
  }

  async #closeSides({ reader }: Open): Promise<void> {
    const markIdle = this.#isIdle ? null : await this.#lastLook(reader);
    await reader.close();
    await this.#deps.writers.closeProject(this.#deps.info.id);
    if (!markIdle) return;
    this.#isIdle = true;
    markIdle();
  }

  /** However it ends, the files are closed. */
  async #lastLook(reader: Reader): Promise<(() => void) | null> {
    try {
      return await this.#deps.beforeIdle(new ProjectReader(reader, this.#deps.info.id));
    } catch (error) {
      this.#deps.onError(error);
      return null;
    }
  }

  /** All that are to be written wait for the one note that the rest is over. */
  #work(): Promise<void> {
    this.#beginning ??= this.#begin();
    return this.#beginning;
  }

  async #begin(): Promise<void> {
    try {
      await this.#deps.beginWork();
      this.#isIdle = false;
    } finally {
      this.#beginning = null;
    }
  }
}
