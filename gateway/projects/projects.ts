import { isoTime } from '../../shared/lib/clock.ts';
import type { ProjectInfo } from '../../shared/kernel/context.ts';
import { newProjectId } from '../../shared/lib/ids.ts';
import { IDEMPOTENCY_MS } from '../../shared/lib/limits.ts';
import type { AdoptionResult, MovingProject, Transition } from '../store/control/moves.ts';
import type { ProjectIdleState } from '../store/control/idle-markers.ts';
import type { ControlStore } from '../store/control-store.ts';
import type { ProjectReader } from '../../shared/store/project-store.ts';
import type { Gauges } from '../lib/metrics.ts';
import { DatabasePool, type DatabasePoolOptions } from './database-pool.ts';
import { OwnerChanges } from './owner-changes.ts';
import { Project, type ProjectDeps } from './project.ts';
import { Scheduler } from './scheduler.ts';
import type { DeletionClock } from './trusted-clock.ts';
import { firstDue, maintain } from './maintenance.ts';
import type { CoordinatedProjects, Coordination } from '../cluster/coordination.ts';
import { migrationStateOf, statesAgain } from './state-again.ts';

type ProjectsDeps = Omit<
  ProjectDeps,
  'atLatest' | 'inBackground' | 'pool' | 'beginWork' | 'beforeIdle' | 'followOwner'
> & {
  readonly deletionClock: DeletionClock;
  /** A disk or a writer has failed, so the databases must be read again before anyone relies on them. */
  isInDoubt(): boolean;
  /** How many databases may be open at once, and how long an unused one stays open. */
  readonly poolOptions: DatabasePoolOptions;
};

const NEVER = Number.NEGATIVE_INFINITY;
/** At most this many run maintenance at once, so that opening databases for it doesn't delay calls. */
const MAINTENANCE_MAX = 4;

/** A gateway's projects: created on first use, open while in use, maintained when due. */
export class Projects implements CoordinatedProjects {
  readonly #control: ControlStore;
  readonly #deps: ProjectDeps;
  readonly #deletionClock: DeletionClock;
  readonly #coordination: Coordination;
  readonly #isInDoubt: () => boolean;
  readonly #scheduler: Scheduler;
  readonly #pool: DatabasePool;
  readonly #onMaintenanceError: (projectId: string, error: unknown) => void;
  readonly #ownerChanges: OwnerChanges;
  readonly #known = new Map<string, Project>();
  readonly #finding = new Map<string, Promise<Project | null>>();
  /** Projects that were left with work under way, until they are loaded. */
  readonly #working = new Set<string>();
  /**
   * Projects whose files may contain orphans from an earlier run or failed work, with the cutoff time for sweeping
   * them.
   */
  readonly #unswept = new Map<string, number>();
  /** Projects whose maintenance is due and queued, and how many are running it. */
  readonly #due: string[] = [];
  #maintaining = 0;
  /** Maintenance and sweeps running now; none of them rejects. */
  readonly #background = new Set<Promise<void>>();
  readonly #closing = new AbortController();

  constructor(
    control: ControlStore,
    deps: ProjectsDeps,
    onMaintenanceError: (projectId: string, error: unknown) => void,
  ) {
    this.#control = control;
    this.#deletionClock = deps.deletionClock;
    this.#coordination = deps.coordination;
    this.#isInDoubt = () => deps.isInDoubt();
    this.#onMaintenanceError = onMaintenanceError;
    const forget = (projectId: string) => this.#forget(projectId);
    this.#ownerChanges = new OwnerChanges(control, { ...deps, forget });
    this.#pool = new DatabasePool(deps.poolOptions);
    this.#scheduler = new Scheduler(deps.clock, (projectId) => {
      this.#due.push(projectId);
      this.#maintainDue();
    });
    this.#deps = {
      ...deps,
      pool: this.#pool,
      beginWork: (projectId) => this.#beginWork(projectId),
      beforeIdle: (projectId, store) => this.#beforeIdle(projectId, store),
      atLatest: (projectId, dueAt) => this.#scheduler.atLatest(projectId, dueAt),
      followOwner: (project) => this.#ownerChanges.follow(project),
      inBackground: (projectId, work) => this.#inBackground(projectId, work),
    };
  }

  /** Returns the project, or null if no project has this id. */
  async find(projectId: string): Promise<Project | null> {
    const known = this.#known.get(projectId);
    if (known || this.#closing.signal.aborted) return known ?? null;
    const finding = this.#finding.get(projectId) ?? this.#load(projectId);
    this.#finding.set(projectId, finding);
    return finding;
  }

  /** Returns the project with this slug, or null. */
  async findBySlug(slug: string): Promise<Project | null> {
    const record = await this.#control.findProjectBySlug(slug);
    return record && record.state !== 'reserved' ? this.find(record.id) : null;
  }

  /** Identifies where the databases are: see `Databases`. */
  get storeFingerprint(): string {
    return this.#deps.databases.fingerprint;
  }

  /** The number of open databases. */
  get openCount(): number {
    return this.#pool.size;
  }

  /** Totals over all projects. */
  get gauges(): Pick<Gauges, 'openProjects' | 'waits' | 'streams'> {
    const known = [...this.#known.values()];
    return {
      openProjects: this.openCount,
      waits: known.reduce((sum, { waits }) => sum + waits.size, 0),
      streams: known.reduce((sum, { feed }) => sum + feed.size, 0),
    };
  }

  /** Lists projects, without those that have moved elsewhere or are being deleted. */
  async list(): Promise<ProjectInfo[]> {
    const records = (await this.#control.projects()).filter(
      ({ state }) => state !== 'moved' && state !== 'deleting',
    );
    return records.map(({ id, slug, name }) => ({ id, slug, name }));
  }

  /**
   * Reserves the project (`reserved`), creates its database, then confirms it (`active`). After a crash in between,
   * the reservation keeps its slug and the next start finishes it.
   */
  async create(wanted: { readonly name: string; readonly slug: string }): Promise<Project> {
    const id = newProjectId();
    const created_at = isoTime(this.#deps.clock.now());
    await this.#control.reserveProject({ id, slug: wanted.slug, name: wanted.name, created_at });
    return this.#finish(id);
  }

  /**
   * Finishes reservations and learns when each project is next due: from its idle marker if it was left idle,
   * otherwise by running its maintenance in the background. Rows are judged by the current time, not by the state
   * last written.
   */
  async start(): Promise<void> {
    const { idleMarkers } = this.#coordination;
    for (const { id, state, created_at } of await this.#control.projects()) {
      const isAbandoned = this.#coordination.isAbandoned(Date.parse(created_at));
      if (state === 'reserved' && isAbandoned) await this.#finish(id);
    }
    this.adopt(await idleMarkers.all());
  }

  /** Whether a project's files are open, or about to be. */
  isOpen(projectId: string): boolean {
    return this.#known.get(projectId)?.isOpen ?? false;
  }

  /** Takes over projects that an earlier run or another gateway left. */
  adopt(work: readonly ProjectIdleState[]): void {
    const now = this.#deps.clock.now();
    for (const { id, isIdle, nextDueAt } of work) {
      if (!isIdle) {
        this.#unswept.set(id, NEVER);
        const known = this.#known.get(id);
        if (known) known.takeOver();
        else this.#working.add(id);
      }
      const dueAt = isIdle ? nextDueAt : now;
      if (dueAt !== null) this.#scheduler.atLatest(id, dueAt);
    }
  }

  /**
   * Other gateways now look after everything this one did; it looks after only what it writes from here on. While it
   * was counted as dead, any project may have become read-only or moved. Resolves once it knows; never rejects.
   */
  releaseAll(): Promise<void> {
    this.#working.clear();
    for (const project of this.#known.values()) project.markIdle();
    const { signal } = this.#closing;
    const asking = { control: this.#control, signal, onError: this.#onMaintenanceError };
    const looking = statesAgain([...this.#known.values()], asking, (project, state) => {
      this.#inBackground(project.info.id, () => project.transitionTo(state));
    }).finally(() => this.#background.delete(looking));
    this.#background.add(looking);
    return looking;
  }

  /**
   * Makes the project read-only, also across restarts. Resolves when writes already under way are done. Refused while
   * other gateways share the store: they look up where a project is only once and would go on writing.
   */
  async hold(projectId: string): Promise<Transition> {
    const { exclusiveGateway } = this.#coordination;
    const transitioned = await this.#control.moves.hold(projectId, exclusiveGateway);
    if ('changed' in transitioned) await (await this.find(projectId))?.makeReadonly();
    return transitioned;
  }

  /** Makes it writable again, with `alsoMoved` even one that is marked as moved; refused like `hold`. */
  async release(projectId: string, alsoMoved = false): Promise<Transition> {
    const { exclusiveGateway } = this.#coordination;
    const transitioned = await this.#control.moves.release(projectId, exclusiveGateway, alsoMoved);
    if ('changed' in transitioned && transitioned.changed) (await this.find(projectId))?.resume();
    return transitioned;
  }

  /** Closes a read-only project for good; refused like `hold`. Callers are sent to this address if it's known. */
  async moveAway(projectId: string, to: string | null): Promise<Transition> {
    const { exclusiveGateway } = this.#coordination;
    const transitioned = await this.#control.moves.move(projectId, to, exclusiveGateway);
    if ('changed' in transitioned) (await this.find(projectId))?.moveAway(to);
    return transitioned;
  }

  /** Deletes a project for good. A gateway that dies meanwhile goes on when it starts. */
  delete(projectId: string): Promise<void> {
    return this.#ownerChanges.delete(projectId);
  }

  /** Adds a project whose database is in place and starts its maintenance at once. */
  async add(moving: MovingProject): Promise<AdoptionResult> {
    const adopted = await this.#control.moves.adopt(moving);
    const { id } = moving.project;
    if (adopted !== 'adopted') return adopted;
    // If this gateway dies, another one takes the project over.
    await this.#coordination.idleMarkers.end(id);
    this.adopt([{ id, isIdle: false, nextDueAt: null }]);
    await this.find(id);
    return adopted;
  }

  /** Ends all waits as if they timed out; reads and writes go on. */
  async endWaits(): Promise<void> {
    this.#scheduler.close();
    for (const project of this.#known.values()) project.endWaits();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.endWaits();
    this.#pool.close();
    this.#due.length = 0;
    await this.#settled();
    await Promise.all([...this.#known.values()].map((project) => project.close()));
    await this.#settled();
    this.#known.clear();
    this.#deletionClock.close?.();
  }

  async #settled(): Promise<void> {
    while (this.#background.size > 0) await Promise.all(this.#background);
  }

  /** Opening creates the database, which is all a reservation lacks. */
  async #finish(projectId: string): Promise<Project> {
    const project = await this.find(projectId);
    if (!project) throw new Error('The project just made is not there.');
    await project.ledgerWriter();
    await this.#control.confirmProject(projectId);
    return project;
  }

  async #load(projectId: string): Promise<Project | null> {
    try {
      const record = await this.#control.findProject(projectId);
      if (!record || record.state === 'deleting') return null;
      const { id, slug, name, state } = record;
      // Only for reservations: a lost database must not be replaced by an empty one.
      if (state === 'reserved') await this.#deps.databases.makeProject(id);
      const migrationState = await migrationStateOf(this.#control, record);
      const isIdle = !this.#working.delete(id);
      const project = new Project({ id, slug, name }, this.#deps, {
        isIdle,
        isMade: state !== 'reserved',
        migrationState,
      });
      this.#known.set(id, project);
      if (!isIdle) project.atLatest(this.#deps.clock.now());
      return project;
    } finally {
      // Unknown ids must not fill the memory.
      this.#finding.delete(projectId);
    }
  }

  async #forget(projectId: string): Promise<Project | undefined> {
    await this.#finding.get(projectId);
    const project = this.#known.get(projectId);
    this.#known.delete(projectId);
    this.#unswept.delete(projectId);
    return project;
  }

  /** A write that stores its answer doesn't ask for maintenance; its answer expires after this long. */
  async #beginWork(projectId: string): Promise<void> {
    await this.#coordination.idleMarkers.end(projectId);
    this.#scheduler.atLatest(projectId, this.#deps.clock.now() + IDEMPOTENCY_MS);
  }

  async #beforeIdle(projectId: string, store: ProjectReader): Promise<(() => void) | null> {
    // Data that failed to sync is invisible now but may be there after a restart.
    if (this.#unswept.has(projectId) || this.#isInDoubt()) return null;
    const now = this.#deps.clock.now();
    const nextDueAt = await store.read((repositories) => firstDue(repositories, now));
    const { idleMarkers } = this.#coordination;
    return () => this.#inBackground(projectId, () => idleMarkers.begin(projectId, nextDueAt));
  }

  #maintainDue(): void {
    while (this.#maintaining < MAINTENANCE_MAX && !this.#closing.signal.aborted) {
      const projectId = this.#due.shift();
      if (projectId === undefined) return;
      this.#maintaining += 1;
      this.#inBackground(projectId, () =>
        this.#maintain(projectId).finally(() => {
          this.#maintaining -= 1;
          this.#maintainDue();
        }),
      );
    }
  }

  async #maintain(projectId: string): Promise<void> {
    try {
      const project = await this.find(projectId);
      if (!project) return await this.#ownerChanges.finish(projectId);
      // A read-only project asks again when it's resumed.
      if (!project.isWritable || !(await project.followOwner())) return;
      const { signal } = this.#closing;
      await maintain(project, this.#deps.clock, { deletionClock: this.#deletionClock, signal });
      this.#sweepOnce(project);
    } catch (error) {
      // It became read-only in the meantime.
      if (this.#known.get(projectId)?.isWritable === false) return;
      // A full disk is temporary: retry soon, without spinning.
      this.#scheduler.atLatest(projectId, this.#deps.clock.now() + 5_000);
      throw error;
    }
  }

  /** Separate from maintenance, which must not wait until all files are read. */
  #sweepOnce(project: Project): void {
    const { id } = project.info;
    const sweptAsOf = this.#unswept.get(id);
    if (sweptAsOf === undefined) return;
    const now = this.#deps.clock.now();
    const asOf = this.#deletionClock.asOf(now);
    const waitMs = this.#deletionClock.waitMs();
    if (waitMs > 0) project.atLatest(now + waitMs);
    if (asOf === null || asOf <= sweptAsOf) return;
    if (waitMs > 0) this.#unswept.set(id, asOf);
    else this.#unswept.delete(id);
    const { signal } = this.#closing;
    this.#inBackground(id, async () => {
      await project.blobs.sweep(
        (digest) => project.store.read((store) => store.blobs.isReferenced(digest)),
        asOf,
        signal,
      );
      if (signal.aborted) this.#unswept.set(id, NEVER);
    });
  }

  #inBackground(projectId: string, work: () => Promise<void>): void {
    const running = work()
      .catch((error: unknown) => {
        // It may have been about to delete a file.
        this.#unswept.set(projectId, NEVER);
        this.#onMaintenanceError(projectId, error);
      })
      .finally(() => this.#background.delete(running));
    this.#background.add(running);
  }
}
