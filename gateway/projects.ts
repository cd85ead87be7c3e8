import { isoTime } from '../shared/clock.ts';
import type { ProjectInfo } from '../shared/context.ts';
import { newProjectId } from '../shared/ids.ts';
import type { ControlStore } from '../shared/store/control-store.ts';
import { Project, type ProjectHost } from './project.ts';
import { Scheduler } from './scheduler.ts';
import { keepUp } from './upkeep.ts';

type Host = Omit<ProjectHost, 'atLatest'>;

/** The projects of a gateway: opened on first use, kept open, their upkeep run when it is due. */
export class Projects {
  readonly #control: ControlStore;
  readonly #host: ProjectHost;
  readonly #scheduler: Scheduler;
  readonly #onUpkeepError: (projectId: string, error: unknown) => void;
  readonly #open = new Map<string, Promise<Project | null>>();
  #closed = false;

  constructor(
    control: ControlStore,
    host: Host,
    onUpkeepError: (projectId: string, error: unknown) => void,
  ) {
    this.#control = control;
    this.#onUpkeepError = onUpkeepError;
    this.#scheduler = new Scheduler(host.clock, (projectId) => this.#keepUp(projectId));
    this.#host = {
      ...host,
      atLatest: (projectId, dueAt) => this.#scheduler.atLatest(projectId, dueAt),
    };
  }

  /** The open project, or null when there is none with this id. */
  async find(projectId: string): Promise<Project | null> {
    const known = this.#open.get(projectId);
    if (known) return known;
    if (this.#closed) return null;
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

  /** Reserves the project, makes its database, then confirms it; a crash between leaves a reservation to finish. */
  async create(wanted: { readonly name: string; readonly slug: string }): Promise<Project> {
    const id = newProjectId();
    const created_at = isoTime(this.#host.clock.now());
    await this.#control.reserveProject({ id, slug: wanted.slug, name: wanted.name, created_at });
    const project = await this.find(id);
    if (!project) throw new Error('The project just made is not there.');
    await this.#control.confirmProject(id);
    return project;
  }

  /** Finds what fell due while nobody was running. */
  async start(): Promise<void> {
    for (const { id, state } of await this.#control.projects()) {
      const project = await this.find(id);
      if (!project) continue;
      if (state === 'reserved') await this.#control.confirmProject(id);
      await keepUp(project, this.#host.clock);
      await project.blobs.sweep(
        (digest) => project.store.read((store) => store.blobs.isReferenced(digest)),
        this.#host.clock.now(),
      );
    }
  }

  /** Ends all waits as at their timeouts; reads and writes go on. */
  async endWaits(): Promise<void> {
    this.#scheduler.close();
    for (const opening of this.#open.values()) (await opening)?.waits.close();
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.endWaits();
    for (const opening of this.#open.values()) await (await opening)?.close();
    this.#open.clear();
  }

  async #openProject(projectId: string): Promise<Project | null> {
    const record = await this.#control.findProject(projectId);
    if (!record) return null;
    const { id, slug, name } = record;
    return Project.open({ id, slug, name }, this.#host);
  }

  #keepUp(projectId: string): void {
    const run = async (): Promise<void> => {
      const project = await this.find(projectId);
      if (project) await keepUp(project, this.#host.clock);
    };
    run().catch((error: unknown) => {
      this.#onUpkeepError(projectId, error);
      // A full disk passes: try again soon, without spinning.
      this.#scheduler.atLatest(projectId, this.#host.clock.now() + 5_000);
    });
  }
}
