import { isoTime, type Steadiness } from '../shared/clock.ts';
import type { ProjectInfo } from '../shared/context.ts';
import { newProjectId } from '../shared/ids.ts';
import { IDEMPOTENCY_MS } from '../shared/limits.ts';
import type { ControlStore } from '../shared/store/control-store.ts';
import type { ProjectReader } from '../shared/store/project-store.ts';
import type { Census } from './observer.ts';
import { OpenFiles, type OpenFilesOptions } from './open-files.ts';
import { Project, type ProjectHost } from './project.ts';
import { Scheduler } from './scheduler.ts';
import { firstDue, keepUp } from './upkeep.ts';

type Host = Omit<
  ProjectHost,
  'atLatest' | 'inBackground' | 'openFiles' | 'beginWork' | 'beforeRest'
> & {
  readonly steady: Steadiness;
  /** How many databases may be open at a time, and for how long one that nobody uses. */
  readonly files: OpenFilesOptions;
};

/** So many have their upkeep at once: opening databases for it must not keep others waiting. */
const UPKEEP_MAX = 4;

/** The projects of a gateway: made on first use, their files open while they are used, their upkeep run when it is due. */
export class Projects {
  readonly #control: ControlStore;
  readonly #host: ProjectHost;
  readonly #steady: Steadiness;
  readonly #scheduler: Scheduler;
  readonly #openFiles: OpenFiles;
  readonly #onUpkeepError: (projectId: string, error: unknown) => void;
  readonly #known = new Map<string, Project>();
  readonly #finding = new Map<string, Promise<Project | null>>();
  /** Projects that an earlier run has left with nothing under way, until they are made. */
  readonly #resting = new Set<string>();
  /** Projects whose files may hold orphans, of an earlier run or of work that failed. */
  readonly #unswept = new Set<string>();
  /** Whose upkeep is due and waits for its turn, and how many have theirs. */
  readonly #due: string[] = [];
  #keptUp = 0;
  /** Upkeep and sweeps that run just now; none of them rejects. */
  readonly #background = new Set<Promise<void>>();
  readonly #closing = new AbortController();

  constructor(
    control: ControlStore,
    host: Host,
    onUpkeepError: (projectId: string, error: unknown) => void,
  ) {
    this.#control = control;
    this.#steady = host.steady;
    this.#onUpkeepError = onUpkeepError;
    this.#openFiles = new OpenFiles(host.files);
    this.#scheduler = new Scheduler(host.clock, (projectId) => {
      this.#due.push(projectId);
      this.#keepUpDue();
    });
    this.#host = {
      ...host,
      openFiles: this.#openFiles,
      beginWork: (projectId) => this.#beginWork(projectId),
      beforeRest: (projectId, store) => this.#beforeRest(projectId, store),
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
    return record?.state === 'active' ? this.find(record.id) : null;
  }

  /** How many databases are open. */
  get openCount(): number {
    return this.#openFiles.size;
  }

  /** What all of them hold at this moment. */
  get census(): Pick<Census, 'openProjects' | 'waits' | 'streams'> {
    const known = [...this.#known.values()];
    return {
      openProjects: this.openCount,
      waits: known.reduce((sum, { waits }) => sum + waits.size, 0),
      streams: known.reduce((sum, { feed }) => sum + feed.size, 0),
    };
  }

  async list(): Promise<ProjectInfo[]> {
    const records = await this.#control.projects();
    return records.map(({ id, slug, name }) => ({ id, slug, name }));
  }

  /**
   * Reserves the project (`reserved`), makes its database, then confirms it (`active`). A crash between leaves a
   * reservation, which holds its slug and is finished by the next start.
   */
  async create(wanted: { readonly name: string; readonly slug: string }): Promise<Project> {
    const id = newProjectId();
    const created_at = isoTime(this.#host.clock.now());
    await this.#control.reserveProject({ id, slug: wanted.slug, name: wanted.name, created_at });
    return this.#finish(id);
  }

  /**
   * Finishes reservations, and learns what falls due in each project: of those that were left with nothing under way from
   * the note of that, of others by their upkeep, in the background. Rows are judged by the time, not as last written.
   */
  async start(): Promise<void> {
    const rests = await this.#control.rests.all();
    const now = this.#host.clock.now();
    for (const { id, state } of await this.#control.projects()) {
      const nextDueAt = rests.get(id);
      if (state === 'reserved') await this.#finish(id);
      if (nextDueAt === undefined) this.#unswept.add(id);
      else this.#resting.add(id);
      if (nextDueAt !== null) this.#scheduler.atLatest(id, nextDueAt ?? now);
    }
  }

  /** Ends all waits as at their timeouts; reads and writes go on. */
  async endWaits(): Promise<void> {
    this.#scheduler.close();
    for (const project of this.#known.values()) project.endWaits();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.endWaits();
    this.#openFiles.close();
    this.#due.length = 0;
    await this.#settled();
    await Promise.all([...this.#known.values()].map((project) => project.close()));
    await this.#settled();
    this.#known.clear();
  }

  async #settled(): Promise<void> {
    while (this.#background.size > 0) await Promise.all(this.#background);
  }

  /** Opening makes the database, which is all that a reservation is missing. */
  async #finish(projectId: string): Promise<Project> {
    const project = await this.find(projectId);
    if (!project) throw new Error('The project just made is not there.');
    await project.recorder();
    await this.#control.confirmProject(projectId);
    return project;
  }

  async #look(projectId: string): Promise<Project | null> {
    try {
      const record = await this.#control.findProject(projectId);
      if (!record) return null;
      const { id, slug, name } = record;
      const isResting = this.#resting.delete(id);
      const project = new Project({ id, slug, name }, this.#host, isResting);
      this.#known.set(id, project);
      if (!isResting) project.atLatest(this.#host.clock.now());
      return project;
    } finally {
      // Ids that lead nowhere must not fill the memory.
      this.#finding.delete(projectId);
    }
  }

  /** A write that keeps its answer does not ask for upkeep, and has its time for so long. */
  async #beginWork(projectId: string): Promise<void> {
    await this.#control.rests.end(projectId);
    this.#scheduler.atLatest(projectId, this.#host.clock.now() + IDEMPOTENCY_MS);
  }

  async #beforeRest(projectId: string, store: ProjectReader): Promise<(() => void) | null> {
    if (this.#unswept.has(projectId)) return null;
    const now = this.#host.clock.now();
    const nextDueAt = await store.read((repositories) => firstDue(repositories, now));
    return () =>
      this.#inBackground(projectId, () => this.#control.rests.begin(projectId, nextDueAt));
  }

  #keepUpDue(): void {
    while (this.#keptUp < UPKEEP_MAX && !this.#closing.signal.aborted) {
      const projectId = this.#due.shift();
      if (projectId === undefined) return;
      this.#keptUp += 1;
      this.#inBackground(projectId, () =>
        this.#keepUp(projectId).finally(() => {
          this.#keptUp -= 1;
          this.#keepUpDue();
        }),
      );
    }
  }

  async #keepUp(projectId: string): Promise<void> {
    try {
      const project = await this.find(projectId);
      if (!project) return;
      const { signal } = this.#closing;
      await keepUp(project, this.#host.clock, { steady: this.#steady, signal });
      this.#sweepOnce(project);
    } catch (error) {
      // A full disk passes: try again soon, without spinning.
      this.#scheduler.atLatest(projectId, this.#host.clock.now() + 5_000);
      throw error;
    }
  }

  /** Apart from upkeep, which must not wait until all files are read. */
  #sweepOnce(project: Project): void {
    if (!this.#unswept.has(project.info.id)) return;
    const now = this.#host.clock.now();
    const waitMs = this.#steady.waitMs();
    if (waitMs > 0) {
      project.atLatest(now + waitMs);
      return;
    }
    this.#unswept.delete(project.info.id);
    const { signal } = this.#closing;
    this.#inBackground(project.info.id, async () => {
      await project.blobs.sweep(
        (digest) => project.store.read((store) => store.blobs.isReferenced(digest)),
        now,
        signal,
      );
      if (signal.aborted) this.#unswept.add(project.info.id);
    });
  }

  #inBackground(projectId: string, work: () => Promise<void>): void {
    const running = work()
      .catch((error: unknown) => {
        // It may have been about to delete a file.
        this.#unswept.add(projectId);
        this.#onUpkeepError(projectId, error);
      })
      .finally(() => this.#background.delete(running));
    this.#background.add(running);
  }
}
