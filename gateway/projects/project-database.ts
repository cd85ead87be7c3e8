import type { ProjectInfo } from '../../shared/kernel/context.ts';
import type { ProjectCoordination } from '../cluster/coordination.ts';
import { unavailable } from '../../shared/lib/errors.ts';
import { makeFolder } from '../../shared/host/make-folder.ts';
import type { BaseCopy, Reader, ReplicationPosition } from '../../shared/store/engine/driver.ts';
import { fileOf, type DatabaseLocation } from '../../shared/store/engine/location.ts';
import { damageIn } from '../../shared/store/sums/content-sum.ts';
import { DamageError, type DamageRegister } from '../../shared/store/sums/damage.ts';
import { ProjectReader } from '../../shared/store/project-store.ts';
import { openReader } from '../../shared/store/engine/open.ts';
import type { PooledDatabase, DatabasePool } from './database-pool.ts';
import type { WriteGate } from './write-gate.ts';
import type { Effect } from '../commit/context/job.ts';
import type { InputOf, OutputOf, CommandName } from '../commit/commands.ts';
import type { ProjectWrites, Writers } from '../commit/thread/writers.ts';

/** What a project's database needs from its surroundings. */
export interface ProjectDatabaseDeps {
  readonly info: ProjectInfo;
  /** The project's own folder; created if it's missing. */
  readonly folder: string;
  /** Where its database is. */
  readonly location: DatabaseLocation;
  /** The database already exists: see `WritableProject`. */
  readonly isMade: boolean;
  readonly writers: Writers;
  readonly pool: DatabasePool;
  readonly gate: WriteGate;
  readonly coordination: Pick<ProjectCoordination, 'catchUp' | 'pinHolder' | 'refresh'>;
  /** Receives the effects of commits. */
  onCommitted(effects: readonly Effect[]): void;
  /** Whether something needs the project for longer than a call; then its files stay open. */
  isPinned(): boolean;
  /** Called before the first write after an idle period; durable when it resolves. */
  beginWork(): Promise<void>;
  /**
   * Called before the files are closed if something was written, for a last look at them. The function it returns is
   * called once they are closed, which marks the project idle. Null if it must not be marked idle.
   */
  beforeIdle(store: ProjectReader): Promise<(() => void) | null>;
  /** The files were opened. */
  opened(): void;
  /** The files are closed, so what we know of the log is no longer valid. */
  closed(): void;
  /** Gets what a read, a write or the writer finds damaged. */
  readonly damage: DamageRegister;
  /** The files couldn't be closed or looked at. */
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
 * One project's database. The first call that needs it opens it, and the pool closes it when it needs room. Callers see
 * only a delay: closing waits for the calls under way, and later calls open it again.
 */
export class ProjectDatabase implements Reader, ProjectWrites, PooledDatabase {
  readonly #deps: ProjectDatabaseDeps;
  #open: Open | null = null;
  #isEvicting = false;
  #isEnded = false;
  /** The opening or closing under way. Never rejects. */
  #transition: Promise<void> | null = null;
  /** Callers that wait until the files are open. */
  #callers: Caller[] = [];
  #calls = 0;
  #whenUnused: (() => void) | null = null;
  #usedAt = 0;
  /** Nothing has been written since `beforeIdle`. */
  #isIdle: boolean;
  #beginning: Promise<void> | null = null;
  #ledgerKey: Uint8Array | null = null;

  /** `isIdle`: an earlier run left the project idle. */
  constructor(deps: ProjectDatabaseDeps, isIdle: boolean) {
    this.#deps = deps;
    this.#isIdle = isIdle;
  }

  get isOpen(): boolean {
    return this.#open !== null && this.#transition === null;
  }

  /** Its files aren't open, nor about to be. */
  get isClosed(): boolean {
    return this.#open === null && this.#transition === null;
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

  /** The key of the digests in the project's ledger; known for good once the files have been open. */
  async ledgerKey(): Promise<Uint8Array> {
    return this.#ledgerKey ?? this.#use(async ({ ledgerKey }) => ledgerKey);
  }

  /** Sees everything that was committed before, by any gateway. */
  read: Reader['read'] = (fn) =>
    this.#deps.gate.read(() =>
      this.#use(async ({ reader }) => {
        await this.#deps.coordination.refresh(this.#refresh);
        return this.#noting(reader.read(fn));
      }),
    );

  /** Reads what this gateway has, without asking for other gateways' commits. */
  readonly local: Reader = {
    read: (fn) =>
      this.#deps.gate.read(() => this.#use(async ({ reader }) => this.#noting(reader.read(fn)))),
    close: () => Promise.resolve(),
  };

  catchUp(): Promise<void> {
    const { coordination, gate } = this.#deps;
    return gate.read(() => this.#use(() => coordination.catchUp(this.#refresh)));
  }

  run<N extends CommandName>(name: N, input: InputOf<N>): Promise<OutputOf<N>> {
    const { gate, info, writers } = this.#deps;
    return gate.write(name, () =>
      this.#use(() =>
        this.#noting(
          this.#isIdle
            ? this.#work().then(() => writers.run(info.id, name, input))
            : writers.run(info.id, name, input),
        ),
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

  /** There is work to record although nothing was written here. */
  wake(): void {
    this.#isIdle = false;
  }

  /** Treats the project as idle, so the next write is recorded. */
  markIdle(): void {
    this.#isIdle = true;
  }

  evict(): Promise<void> {
    if (!this.isOpen) return this.#transition ?? Promise.resolve();
    this.#isEvicting = true;
    return this.#transitionTo(() => this.#shut());
  }

  /** Closes after the calls under way and accepts no more. */
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

  /** Notes damage that the work meets. */
  async #noting<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      const what = damageIn(error);
      if (what === null) throw error;
      const { info, location, damage } = this.#deps;
      const report = { project: info.id, file: damage.nameOf(fileOf(location)), what };
      damage.report(report);
      throw new DamageError(report);
    }
  }

  #onCommitted(effects: readonly Effect[]): void {
    const { info, damage } = this.#deps;
    for (const effect of effects) {
      if (effect.kind !== 'damaged') continue;
      const { path, what } = effect.damage;
      damage.report({ project: info.id, file: damage.nameOf(path), what });
    }
    this.#deps.onCommitted(effects);
  }

  readonly #refresh = (): Promise<void> => this.#deps.writers.catchUp(this.#deps.info.id);

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
    // From here on the pool may evict this database.
    this.#deps.pool.settle();
  }

  async #openUp(): Promise<void> {
    const { pool } = this.#deps;
    await pool.enter(this);
    try {
      const open = await this.#openSides();
      this.#open = open;
      this.#ledgerKey = open.ledgerKey;
      // Count the call before anybody can close the files again.
      for (const { admit } of this.#callers.splice(0)) admit(this.#enter(open));
      this.#deps.opened();
    } catch (error) {
      for (const { refuse } of this.#callers.splice(0)) refuse(error);
      pool.release(this);
    }
  }

  async #openSides(): Promise<Open> {
    const { info, folder, location, isMade, writers } = this.#deps;
    const { pinHolder } = this.#deps.coordination;
    makeFolder(folder);
    const ledgerKey = await writers.open({ info, location, pinHolder, isMade }, (effects) =>
      this.#onCommitted(effects),
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

  /** The files are closed however this ends. */
  async #lastLook(reader: Reader): Promise<(() => void) | null> {
    try {
      return await this.#deps.beforeIdle(new ProjectReader(reader, this.#deps.info.id));
    } catch (error) {
      this.#deps.onError(error);
      return null;
    }
  }

  /** All writes wait for the single record that the idle period is over. */
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
