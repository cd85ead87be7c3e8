import { setTimeout as sleep } from 'node:timers/promises';
import { isoTime } from '../../shared/lib/clock.ts';
import type { ProjectInfo } from '../../shared/kernel/context.ts';
import { newProjectId } from '../../shared/lib/ids.ts';
import { IDEMPOTENCY_MS } from '../../shared/lib/limits.ts';
import type { Adopted, MovingProject, Sole, Transition } from '../store/control/moves.ts';
import type { ProjectIdleState, IdleMarkers } from '../store/control/idle-markers.ts';
import type { ControlStore, ProjectRecord } from '../store/control-store.ts';
import type { ProjectReader } from '../../shared/store/project-store.ts';
import type { Gauges } from '../lib/metrics.ts';
import { DatabasePool, type DatabasePoolOptions } from './database-pool.ts';
import { Project, type ProjectDeps } from './project.ts';
import { Scheduler } from './scheduler.ts';
import type { DeletionClock } from './trusted-clock.ts';
import { firstDue, maintain } from './maintenance.ts';
import type { MigrationState } from './write-gate.ts';

type ProjectsDeps = Omit<
  ProjectDeps,
  'atLatest' | 'inBackground' | 'pool' | 'beginWork' | 'beforeIdle'
> & {
  /** Of what this gateway looks after. */
  readonly idleMarkers: IdleMarkers;
  /** Its name among those that share a store; null where none can. */
  readonly gatewayId: string | null;
  readonly deletionClock: DeletionClock;
  /** A disk has failed, or a writer: what the databases have will be known when they are read anew. */
  isInDoubt(): boolean;
  /** How many databases may be open at a time, and for how long one that nobody uses. */
  readonly poolOptions: DatabasePoolOptions;
};

/** Whoever reserved a project has made it within this time, or has died. */
const FINISHED_WITHIN_MS = 60_000;
const LOOK_AGAIN_MS = 1000;
const NEVER = Number.NEGATIVE_INFINITY;
/** So many have their maintenance at once: opening databases for it must not keep others waiting. */
const MAINTENANCE_MAX = 4;

/** The projects of a gateway: made on first use, their files open while they are used, their maintenance run when it is due. */
export class Projects {
  readonly #control: ControlStore;
  readonly #deps: ProjectDeps;
  readonly #deletionClock: DeletionClock;
  readonly #idleMarkers: IdleMarkers;
  readonly #gatewayId: string | null;
  readonly #isInDoubt: () => boolean;
  readonly #scheduler: Scheduler;
  readonly #pool: DatabasePool;
  readonly #onMaintenanceError: (projectId: string, error: unknown) => void;
  readonly #known = new Map<string, Project>();
  readonly #finding = new Map<string, Promise<Project | null>>();
  /** Projects that were left with something under way, until they are made. */
  readonly #working = new Set<string>();
  /** Projects whose files may hold orphans, of an earlier run or of work that failed, and as of when they were swept. */
  readonly #unswept = new Map<string, number>();
  /** Whose maintenance is due and waits for its turn, and how many have theirs. */
  readonly #due: string[] = [];
  #maintaining = 0;
  /** Maintenance and sweeps that run just now; none of them rejects. */
  readonly #background = new Set<Promise<void>>();
  readonly #closing = new AbortController();

  constructor(
    control: ControlStore,
    deps: ProjectsDeps,
    onMaintenanceError: (projectId: string, error: unknown) => void,
  ) {
    this.#control = control;
    this.#deletionClock = deps.deletionClock;
    this.#idleMarkers = deps.idleMarkers;
    this.#gatewayId = deps.gatewayId;
    this.#isInDoubt = () => deps.isInDoubt();
    this.#onMaintenanceError = onMaintenanceError;
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
      inBackground: (projectId, work) => this.#inBackground(projectId, work),
    };
  }

  /** The project, or null when there is none with this id. */
  async find(projectId: string): Promise<Project | null> {
    const known = this.#known.get(projectId);
    if (known || this.#closing.signal.aborted) return known ?? null;
    const finding = this.#finding.get(projectId) ?? this.#look(projectId);
    this.#finding.set(projectId, finding);
    return finding;
  }

  /** The project with this slug, or null. */
  async findBySlug(slug: string): Promise<Project | null> {
    const record = await this.#control.findProjectBySlug(slug);
    return record && record.state !== 'reserved' ? this.find(record.id) : null;
  }

  /** Of where the databases are: see `Databases`. */
  get storeFingerprint(): string {
    return this.#deps.databases.fingerprint;
  }

  /** How many databases are open. */
  get openCount(): number {
    return this.#pool.size;
  }

  /** What all of them hold at this moment. */
  get gauges(): Pick<Gauges, 'openProjects' | 'waits' | 'streams'> {
    const known = [...this.#known.values()];
    return {
      openProjects: this.openCount,
      waits: known.reduce((sum, { waits }) => sum + waits.size, 0),
      streams: known.reduce((sum, { feed }) => sum + feed.size, 0),
    };
  }

  /** Without those that have moved elsewhere. */
  async list(): Promise<ProjectInfo[]> {
    const records = (await this.#control.projects()).filter(({ state }) => state !== 'moved');
    return records.map(({ id, slug, name }) => ({ id, slug, name }));
  }

  /**
   * Reserves the project (`reserved`), makes its database, then confirms it (`active`). A crash between leaves a
   * reservation, which holds its slug and is finished by the next start.
   */
  async create(wanted: { readonly name: string; readonly slug: string }): Promise<Project> {
    const id = newProjectId();
    const created_at = isoTime(this.#deps.clock.now());
    await this.#control.reserveProject({ id, slug: wanted.slug, name: wanted.name, created_at });
    return this.#finish(id);
  }

  /**
   * Finishes reservations, and learns what falls due in each project: of those that were left with nothing under way from
   * the note of that, of others by their maintenance, in the background. Rows are judged by the time, not as last written.
   */
  async start(): Promise<void> {
    const { clock } = this.#deps;
    for (const { id, state, created_at } of await this.#control.projects()) {
      // Another gateway may be about to finish a fresh one.
      const isFresh =
        this.#deps.databases.shared && Date.parse(created_at) > clock.now() - FINISHED_WITHIN_MS;
      if (state === 'reserved' && !isFresh) await this.#finish(id);
    }
    this.takeOn(await this.#idleMarkers.all());
  }

  /** Looks after projects from here on that an earlier run, or another gateway, has left. */
  takeOn(work: readonly ProjectIdleState[]): void {
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
   * Others look after all that this gateway did: what it writes from here on it looks after anew. While it was not counted
   * any of them may have become read-only or moved.
   */
  loseAll(): void {
    this.#working.clear();
    for (const project of this.#known.values()) project.markIdle();
    const looking = this.#lookAgain([...this.#known.values()]).finally(() => {
      this.#background.delete(looking);
    });
    this.#background.add(looking);
  }

  /**
   * Lets nothing of it be written, also after a restart. Resolves when what was begun before is done. Refused while other
   * gateways share the store: they ask where a project is only once, and would go on writing.
   */
  async hold(projectId: string): Promise<Transition> {
    const transitioned = await this.#control.moves.hold(projectId, this.#sole);
    if ('changed' in transitioned) await (await this.find(projectId))?.makeReadonly();
    return transitioned;
  }

  /** Ends a hold; refused as `hold` is. */
  async release(projectId: string): Promise<Transition> {
    const transitioned = await this.#control.moves.release(projectId, this.#sole);
    if ('changed' in transitioned && transitioned.changed) (await this.find(projectId))?.resume();
    return transitioned;
  }

  /** Closes one that is held for good, or is refused as `hold`: callers are told to go to this address, where one is known. */
  async moveAway(projectId: string, to: string | null): Promise<Transition> {
    const transitioned = await this.#control.moves.move(projectId, to, this.#sole);
    if ('changed' in transitioned) (await this.find(projectId))?.moveAway(to);
    return transitioned;
  }

  /** Takes in a project whose database is in place. Its maintenance begins at once. */
  async adopt(moving: MovingProject): Promise<Adopted> {
    const adopted = await this.#control.moves.adopt(moving);
    const { id } = moving.project;
    if (adopted !== 'adopted') return adopted;
    // Should this gateway die, another one takes it over.
    await this.#idleMarkers.end(id);
    this.takeOn([{ id, isIdle: false, nextDueAt: null }]);
    await this.find(id);
    return adopted;
  }

  /** Who it is that wants to be the only one. */
  get #sole(): Sole {
    return { id: this.#gatewayId, dead: [] };
  }

  /** Ends all waits as at their timeouts; reads and writes go on. */
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

  /** Opening makes the database, which is all that a reservation is missing. */
  async #finish(projectId: string): Promise<Project> {
    const project = await this.find(projectId);
    if (!project) throw new Error('The project just made is not there.');
    await project.ledgerWriter();
    await this.#control.confirmProject(projectId);
    return project;
  }

  async #look(projectId: string): Promise<Project | null> {
    try {
      const record = await this.#control.findProject(projectId);
      if (!record) return null;
      const { id, slug, name, state } = record;
      // Only then: one that is lost must not be replaced by an empty one.
      if (state === 'reserved') await this.#deps.databases.makeProject(id);
      const migrationState = await this.#migrationState(record);
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
      // Ids that lead nowhere must not fill the memory.
      this.#finding.delete(projectId);
    }
  }

  /** Never rejects. */
  async #lookAgain(projects: readonly Project[]): Promise<void> {
    for (const project of projects) await this.#askAgain(project);
  }

  /** Until it is told: one that has moved must not be written here. */
  async #askAgain(project: Project): Promise<void> {
    const { id } = project.info;
    while (!this.#closing.signal.aborted) {
      try {
        const record = await this.#control.findProject(id);
        if (!record) return;
        const migrationState = await this.#migrationState(record);
        this.#inBackground(id, () => project.transitionTo(migrationState));
        return;
      } catch (error) {
        this.#onMaintenanceError(id, error);
        await sleep(LOOK_AGAIN_MS);
      }
    }
  }

  async #migrationState({ id, state }: ProjectRecord): Promise<MigrationState> {
    if (state === 'held') return { kind: 'readonly' };
    return state === 'moved'
      ? { kind: 'moved', to: await this.#control.moves.movedTo(id) }
      : { kind: 'active' };
  }

  /** A write that keeps its answer does not ask for maintenance, and has its time for so long. */
  async #beginWork(projectId: string): Promise<void> {
    await this.#idleMarkers.end(projectId);
    this.#scheduler.atLatest(projectId, this.#deps.clock.now() + IDEMPOTENCY_MS);
  }

  async #beforeIdle(projectId: string, store: ProjectReader): Promise<(() => void) | null> {
    // What failed to be synced is not seen now, and may be there after a restart.
    if (this.#unswept.has(projectId) || this.#isInDoubt()) return null;
    const now = this.#deps.clock.now();
    const nextDueAt = await store.read((repositories) => firstDue(repositories, now));
    return () => this.#inBackground(projectId, () => this.#idleMarkers.begin(projectId, nextDueAt));
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
      // A read-only one asks again when it is resumed.
      if (!project?.isWritable) return;
      const { signal } = this.#closing;
      await maintain(project, this.#deps.clock, { deletionClock: this.#deletionClock, signal });
      this.#sweepOnce(project);
    } catch (error) {
      // It became read-only meanwhile.
      if (this.#known.get(projectId)?.isWritable === false) return;
      // A full disk passes: try again soon, without spinning.
      this.#scheduler.atLatest(projectId, this.#deps.clock.now() + 5_000);
      throw error;
    }
  }

  /** Apart from maintenance, which must not wait until all files are read. */
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
