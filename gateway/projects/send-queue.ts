import type { Clock } from '../../shared/lib/clock.ts';
import type { ProjectInfo } from '../../shared/kernel/context.ts';
import type { ProjectReader } from '../../shared/store/project-store.ts';
import type { Repositories } from '../../shared/store/repositories.ts';
import type { ProjectWrites } from '../commit/writers.ts';

const PAUSE_MS = 5_000;
/** So many are seen by one look beyond those that have a place: a look for each costs more than all else that is read. */
const AHEAD = 64;

/** What sending needs of a project. */
export interface SendingProject {
  readonly info: ProjectInfo;
  readonly store: ProjectReader;
  readonly writes: ProjectWrites;
  /** Other gateways send for it as well. */
  readonly shared: boolean;
  /** Asks to be woken at this time or before. */
  atLatest(dueAt: number): void;
  inBackground(work: () => Promise<void>): void;
}

/** So many of a project are under way at once. */
const UNDER_WAY_MAX = 16;
/** How long another gateway leaves alone what this one is about to send. */
const CLAIM_MS = 120_000;

/**
 * Rows that are due are sent, several at a time, each once at a time: a slow one holds up no other. What is under way when
 * the process ends is found again by the next start, as its row still stands.
 */
export abstract class SendQueue<T extends { readonly id: string }> {
  readonly #project: SendingProject;
  readonly #clock: Clock;
  readonly #underWay = new Set<string>();
  /** Seen to be due when all places were taken, in order. */
  #next: T[] = [];
  #running = false;
  #again = false;
  #closed = false;

  constructor(project: SendingProject, clock: Clock) {
    this.#project = project;
    this.#clock = clock;
  }

  /** What is due, in the order in which it is to go. */
  protected abstract due(store: Repositories, now: number, limit: number): Promise<T[]>;

  /** Claims what is due, so that no other gateway sends it before `until`. */
  protected abstract claim(
    writes: ProjectWrites,
    claim: { readonly now: number; readonly until: number; readonly limit: number },
  ): Promise<T[]>;

  /** Sends one and writes down how it fared. It rejects only when that could not be written. */
  protected abstract send(item: T): Promise<void>;

  /** Something is being sent, or about to be. */
  get isBusy(): boolean {
    return this.#running || this.#underWay.size > 0;
  }

  /** There may be something to send. */
  wake(): void {
    this.#again = true;
    if (this.#running || this.#closed) return;
    this.#running = true;
    this.#project.inBackground(() => this.#run());
  }

  /** Begins nothing more, until it is resumed. */
  close(): void {
    this.#closed = true;
  }

  resume(): void {
    this.#closed = false;
    this.wake();
  }

  async #run(): Promise<void> {
    try {
      while (this.#again && !this.#closed) {
        this.#again = false;
        await this.#sendDue();
      }
    } catch (error) {
      this.#wakeSoon();
      throw error;
    } finally {
      this.#running = false;
    }
  }

  /** No more than can be begun at once: what is claimed is not to wait. */
  async #claimDue(): Promise<void> {
    const limit = UNDER_WAY_MAX - this.#underWay.size;
    const now = this.#clock.now();
    const { store, writes } = this.#project;
    if (limit === 0 || (await store.read((one) => this.due(one, now, 1))).length === 0) return;
    const claimed = await this.claim(writes, { now, until: now + CLAIM_MS, limit });
    if (claimed.length === limit) this.#again = true;
    // A claim may lapse while what it was for is still on its way.
    this.#next = claimed.filter(({ id }) => !this.#underWay.has(id));
    this.#begin();
  }

  async #sendDue(): Promise<void> {
    if (this.#project.shared) return this.#claimDue();
    const now = this.#clock.now();
    // As it was before the look: one that ends meanwhile still stands as due in what was seen.
    const busy = new Set(this.#underWay);
    const wanted = UNDER_WAY_MAX + busy.size + AHEAD;
    const due = await this.#project.store.read((store) => this.due(store, now, wanted));
    this.#next = due.filter(({ id }) => !busy.has(id));
    this.#begin();
  }

  #begin(): void {
    const room = UNDER_WAY_MAX - this.#underWay.size;
    for (const item of this.#next.splice(0, room)) {
      this.#underWay.add(item.id);
      this.#project.inBackground(() => this.#sendOne(item));
    }
  }

  async #sendOne(item: T): Promise<void> {
    try {
      await this.send(item);
    } catch (error) {
      this.#wakeSoon();
      throw error;
    } finally {
      this.#underWay.delete(item.id);
    }
    // What it made due, itself once more perhaps, is found by another look. While there is one, what was seen before is
    // about to be replaced.
    if (this.#running || this.#next.length === 0) this.wake();
    else if (!this.#closed) this.#begin();
  }

  /** What could not be written down is tried again, and not at once: the disk may be full. */
  #wakeSoon(): void {
    this.#project.atLatest(this.#clock.now() + PAUSE_MS);
  }
}
