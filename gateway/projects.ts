import { isoTime, type Steadiness } from '../shared/clock.ts';
import type { ProjectInfo } from '../shared/context.ts';
import { newProjectId } from '../shared/ids.ts';
import type { ControlStore } from '../shared/store/control-store.ts';
import { Project, type ProjectHost } from './project.ts';
import { Scheduler } from './scheduler.ts';
import { keepUp } from './upkeep.ts';

type Host = Omit<ProjectHost, 'atLatest' | 'inBackground'> & { readonly steady: Steadiness };

/** The projects of a gateway: opened on first use, kept open, their upkeep run in the background when it is due. */
export class Projects {
  readonly #control: ControlStore;
  readonly #host: ProjectHost;
  readonly #steady: Steadiness;
  readonly #scheduler: Scheduler;
  readonly #onUpkeepError: (projectId: string, error: unknown) => void;
  readonly #open = new Map<string, Promise<Project | null>>();
  /** Projects whose files may hold orphans of an earlier run. */
  readonly #unswept = new Set<string>();
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
    this.#scheduler = new Scheduler(host.clock, (projectId) => this.#keepUp(projectId));
    this.#host = {
      ...host,
      atLatest: (projectId, dueAt) => this.#scheduler.atLatest(projectId, dueAt),
      inBackground: (projectId, work) => this.#inBackground(projectId, work),
    };
  }

  /** The open project, or null when there is none with this id. */
  async find(projectId: string): Promise<Project | null> {
    const known = this.#open.get(projectId);
    if (known) return known;
    if (this.#closing.signal.aborted) return null;
    const opening = this.#openProject(projectId);
    this.#open.set(projectId, opening);
    const project = await opening.catch((error: unknown) => {
      this.#open.delete(projectId);
      throw error;
    });
    // Ids that lead nowhere must not fill the memory.
    if (!project) this.#open.delete(projectId);
    return project;
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
    const project = await this.find(id);
    if (!project) throw new Error('The project just made is not there.');
    await this.#control.confirmProject(id);
    return project;
  }

  /**
   * Opens every project, and finishes reservations: opening has made the database, which was all that was missing. What
   * fell due while nobody was running is left to the background: rows are judged by the time, not as last written.
   */
  async start(): Promise<void> {
    for (const { id, state } of await this.#control.projects()) {
      this.#unswept.add(id);
      const project = await this.find(id);
      if (project && state === 'reserved') await this.#control.confirmProject(id);
    }
  }

  /** Ends all waits as at their timeouts; reads and writes go on. */
  async endWaits(): Promise<void> {
    this.#scheduler.close();
    for (const opening of this.#open.values()) (await opening)?.waits.close();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.endWaits();
    while (this.#background.size > 0) await Promise.all(this.#background);
    for (const opening of this.#open.values()) await (await opening)?.close();
    this.#open.clear();
  }

  async #openProject(projectId: string): Promise<Project | null> {
    const record = await this.#control.findProject(projectId);
    if (!record) return null;
    const { id, slug, name } = record;
    const project = await Project.open({ id, slug, name }, this.#host);
    project.atLatest(this.#host.clock.now());
    return project;
  }

  #keepUp(projectId: string): void {
    this.#inBackground(projectId, async () => {
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
    });
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
    this.#inBackground(project.info.id, () =>
      project.blobs.sweep(
        (digest) => project.store.read((store) => store.blobs.isReferenced(digest)),
        now,
        this.#closing.signal,
      ),
    );
  }

  #inBackground(projectId: string, work: () => Promise<void>): void {
    const running = work()
      .catch((error: unknown) => this.#onUpkeepError(projectId, error))
      .finally(() => this.#background.delete(running));
    this.#background.add(running);
  }
}
