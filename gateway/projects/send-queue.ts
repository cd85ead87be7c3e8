import type { Clock } from '../../shared/lib/clock.ts';
import type { DueRows, RowClaim } from '../cluster/due-rows.ts';
import type { ProjectInfo } from '../../shared/kernel/context.ts';
import type { ProjectReader } from '../../shared/store/project-store.ts';
import type { Repositories } from '../../shared/store/repositories.ts';
import type { ProjectWrites } from '../commit/thread/writers.ts';

const PAUSE_MS = 5_000;

/** What sending needs from a project. */
export interface SendingProject {
  readonly info: ProjectInfo;
  readonly store: ProjectReader;
  readonly writes: ProjectWrites;
  /** Which rows are to be sent here. */
  readonly dueRows: DueRows;
  /** Asks to be woken at this time at the latest. */
  atLatest(dueAt: number): void;
  inBackground(work: () => Promise<void>): void;
}

/** How many of a project's rows are sent at once. */
const UNDER_WAY_MAX = 16;

/**
 * Sends due rows, several at a time, so a slow one doesn't delay the others; no row is sent twice at once. If the process
 * ends during a send, the next start finds the row again, because it's deleted or updated only afterwards.
 */
export abstract class SendQueue<T extends { readonly id: string; readonly due_at: number | null }> {
  readonly #project: SendingProject;
  readonly #clock: Clock;
  readonly #underWay = new Set<string>();
  /** Rows found due while all slots were taken, in order. */
  #next: T[] = [];
  #running = false;
  #again = false;
  #closed = false;

  constructor(project: SendingProject, clock: Clock) {
    this.#project = project;
    this.#clock = clock;
  }

  /** Returns due rows in the order to send them. */
  protected abstract due(store: Repositories, now: number, limit: number): Promise<T[]>;

  /** Claims due rows, so that nobody else sends them before `until`. */
  protected abstract claim(writes: ProjectWrites, claim: RowClaim): Promise<T[]>;

  /**
   * Sends one row and records the outcome. `claimedUntil`: when somebody else may take it, null if nobody could. Rejects
   * only if the outcome couldn't be recorded.
   */
  protected abstract send(item: T, claimedUntil: number | null): Promise<void>;

  /** Whether something is being sent or about to be. */
  get isBusy(): boolean {
    return this.#running || this.#underWay.size > 0;
  }

  /** Call when something may be due. */
  wake(): void {
    this.#again = true;
    if (this.#running || this.#closed) return;
    this.#running = true;
    this.#project.inBackground(() => this.#run());
  }

  /** Starts nothing more until it's resumed. */
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

  async #sendDue(): Promise<void> {
    const { store, writes, dueRows } = this.#project;
    const queue = {
      store,
      writes,
      due: (one: Repositories, now: number, limit: number) => this.due(one, now, limit),
      claim: (one: ProjectWrites, claim: RowClaim) => this.claim(one, claim),
    };
    const now = this.#clock.now();
    const state = { now, slots: UNDER_WAY_MAX, underWay: this.#underWay };
    const { rows, isMore } = await dueRows.next(queue, state);
    if (isMore) this.#again = true;
    this.#next = rows;
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
      await this.send(item, this.#project.dueRows.claimedUntil(item));
    } catch (error) {
      this.#wakeSoon();
      throw error;
    } finally {
      this.#underWay.delete(item.id);
    }
    // Another query finds what this send made due, perhaps the row itself again. If one is under way, its result is about
    // to replace the rows seen before.
    if (this.#running || this.#next.length === 0) this.wake();
    else if (!this.#closed) this.#begin();
  }

  /** Retries what couldn't be recorded, but not at once: the disk may be full. */
  #wakeSoon(): void {
    this.#project.atLatest(this.#clock.now() + PAUSE_MS);
  }
}
