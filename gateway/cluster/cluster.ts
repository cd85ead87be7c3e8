import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../shared/lib/clock.ts';
import type { BackgroundTask } from '../lib/background-task.ts';
import { LEFT, type GatewayRow, type GatewayStore } from '../store/control/gateways.ts';
import type { ProjectIdleState } from '../store/control/idle-markers.ts';
import { Comeback, KNOWN_AFTER_BEATS } from './comeback.ts';

const HEARTBEAT_MS = 1_000;
/** After this much silence from its store, a proxy should use another gateway. */
const SILENT_AFTER_MS = 5_000;
/** A gateway whose heartbeat hasn't changed for this long is considered dead. */
export const DEAD_AFTER_MS = 15_000;
/**
 * A gateway that couldn't send a heartbeat for this long stops its tasks and writes: another may have taken them
 * over.
 */
const UNSURE_AFTER_MS = 10_000;

interface ClusterOptions {
  readonly store: Pick<GatewayStore, 'beat' | 'leave' | 'markersOf' | 'takeTask' | 'takeOver'>;
  /** This gateway's id: `gatewayIdIn` its data folder. */
  readonly id: string;
  readonly clock: Clock;
  /** Receives the work of a gateway that died or left; this gateway now looks after it. */
  readonly onFailover: (work: readonly ProjectIdleState[]) => void;
  /**
   * The other gateways declared this one dead and took over its work; it starts again with none. Resolves once it knows
   * what they changed.
   */
  readonly onLost: () => Promise<void>;
  readonly onError: (error: unknown) => void;
  /** For tests. */
  readonly timing?: ClusterTiming;
}

export interface ClusterTiming {
  readonly beatMs: number;
  readonly deadAfterMs: number;
  readonly unsureAfterMs: number;
}

interface Moment {
  readonly steady: number;
  readonly wall: number;
}

interface Heartbeat {
  beat: number;
  /** When this heartbeat was first seen, in milliseconds of a monotonic clock. */
  at: number;
}

/**
 * The gateways that share a store. Each sends a heartbeat every second; the first to notice a dead one takes
 * over its work in one transaction. The clocks of two gateways are never compared.
 */
export class Cluster {
  readonly #options: ClusterOptions;
  readonly #heartbeatMs: number;
  readonly #deadAfterMs: number;
  readonly #unsureAfterMs: number;
  readonly #seen = new Map<string, Heartbeat>();
  readonly #tasks: BackgroundTask[] = [];
  readonly #running = new Set<BackgroundTask>();
  readonly #comeback: Comeback;
  /** When another gateway was last seen; minus infinity if none ever was. */
  #othersAt = Number.NEGATIVE_INFINITY;
  /** When the newest heartbeat was requested, by the monotonic and the wall clock. */
  #lastHeartbeat: Moment;
  /** The newest heartbeat this gateway sent; null if that isn't known. */
  #given: number | null = null;
  #hasReportedDuplicate = false;
  #timer: NodeJS.Timeout | null = null;
  /** Fires when heartbeats have failed for so long that another gateway may run the tasks. */
  #doubt: NodeJS.Timeout | null = null;
  #heartbeat: Promise<void> = Promise.resolve();
  #isClosed = false;
  #hasBegun = false;
  /** It may have taken over work without seeing the answer. */
  #mayHaveMore = false;

  constructor(options: ClusterOptions) {
    this.#options = options;
    this.#heartbeatMs = options.timing?.beatMs ?? HEARTBEAT_MS;
    this.#deadAfterMs = options.timing?.deadAfterMs ?? DEAD_AFTER_MS;
    this.#unsureAfterMs = options.timing?.unsureAfterMs ?? UNSURE_AFTER_MS;
    this.#lastHeartbeat = this.#moment();
    this.#comeback = new Comeback(() => options.onLost());
  }

  /**
   * The others may have declared this gateway dead and moved a project away, so nothing may be written until a heartbeat
   * succeeds, it knows what they changed, and all of them know that it's back.
   */
  get isUnsure(): boolean {
    return !this.#comeback.isOver || this.#silentMs > this.#unsureAfterMs;
  }

  /**
   * Whether other gateways are there or were until a moment ago: one that was declared dead may still finish what it
   * had begun.
   */
  get hasOthers(): boolean {
    return performance.now() - this.#othersAt <= this.#deadAfterMs;
  }

  /**
   * Whether others may have written since this gateway last looked. One that has just started serves nobody before all
   * others know of it, so a recent heartbeat that showed nobody is proof.
   */
  get mayHaveCompany(): boolean {
    return this.hasOthers || this.#silentMs > KNOWN_AFTER_BEATS * this.#heartbeatMs;
  }

  /** Other gateways should get the requests: the store hasn't answered for long, or this gateway isn't back yet. */
  get isServerSilent(): boolean {
    return this.isUnsure || this.#silentMs > SILENT_AFTER_MS;
  }

  /** Only the wall clock shows that a machine was suspended. */
  get #silentMs(): number {
    const { steady, wall } = this.#moment();
    return Math.max(steady - this.#lastHeartbeat.steady, wall - this.#lastHeartbeat.wall);
  }

  /** Adds a task that one gateway runs; the next heartbeat that finds it free starts it. */
  add(task: BackgroundTask): void {
    this.#tasks.push(task);
  }

  /** Resolves after the first heartbeat, and once all others know of it; throws if the heartbeat fails. */
  async start(): Promise<void> {
    await this.#sendHeartbeat();
    this.#again();
    if (this.hasOthers) await sleep((KNOWN_AFTER_BEATS + 1) * this.#heartbeatMs);
  }

  /** Ends its tasks and takes on no more, before closing. */
  async endTasks(): Promise<void> {
    this.#tasks.length = 0;
    await this.#stopTasks();
  }

  /** Hands its work over to the others. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#timer) clearTimeout(this.#timer);
    await this.#heartbeat;
    if (this.#doubt) clearTimeout(this.#doubt);
    await this.#stopTasks();
    // If this fails, the others notice in time.
    if (this.#hasBegun)
      await this.#options.store.leave(this.#options.id).catch(this.#options.onError);
  }

  #again(): void {
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#heartbeat = this.#sendHeartbeat()
        .catch(this.#options.onError)
        .finally(() => this.#again());
    }, this.#heartbeatMs);
  }

  async #sendHeartbeat(): Promise<void> {
    const { store, id, clock } = this.#options;
    const asked = this.#moment();
    const given = this.#given;
    this.#given = null;
    const beat = await store.beat(id, clock.now());
    const { wasGone, before, others } = beat;
    this.#given = Math.max(before ?? 0, 0) + 1;
    if (given !== null && before !== null && before > given) this.#noteDuplicate();
    // The answer that told us we were declared dead may have been lost, and this one may follow it.
    const wasSilent = asked.steady - this.#lastHeartbeat.steady > this.#deadAfterMs;
    const isLost = this.#hasBegun && (wasGone || wasSilent);
    // Note the others first: once this heartbeat counts, it must also say who else is there.
    const dead = this.#dead(others);
    this.#comeback.note(beat, isLost);
    this.#lastHeartbeat = asked;
    this.#doubtLater(asked.steady);
    if (isLost) await this.#stopTasks();
    this.#hasBegun = true;
    for (const other of dead) await this.#takeOver(other);
    await this.#lookAgain();
    await this.#takeTasks();
  }

  /** Uses a timer of its own: while the store delays one heartbeat, no other starts. */
  #doubtLater(askedAt: number): void {
    if (this.#doubt) clearTimeout(this.#doubt);
    const inMs = askedAt + this.#unsureAfterMs - performance.now();
    this.#doubt = setTimeout(() => void this.#stopTasks(), Math.max(0, inMs));
    this.#doubt.unref();
  }

  /** Returns gateways that left or whose heartbeat hasn't changed for too long. */
  #dead(others: readonly GatewayRow[]): GatewayRow[] {
    const now = performance.now();
    const ids = new Set(others.map(({ id }) => id));
    for (const id of this.#seen.keys()) if (!ids.has(id)) this.#seen.delete(id);
    // A gateway that has left since the last look may have written before.
    if (others.length > 0) this.#othersAt = now;
    return others.filter(({ id, beat }) => {
      if (beat === LEFT) return true;
      const seen = this.#seen.get(id);
      if (!seen || seen.beat !== beat) this.#seen.set(id, { beat, at: now });
      return seen?.beat === beat && now - seen.at > this.#deadAfterMs;
    });
  }

  /**
   * Another process sends heartbeats under this id. The data folder's lock doesn't protect against a copy of the
   * folder.
   */
  #noteDuplicate(): void {
    this.#othersAt = performance.now();
    if (this.#hasReportedDuplicate) return;
    this.#hasReportedDuplicate = true;
    const { id, onError } = this.#options;
    onError(
      new Error(
        `Another gateway runs as ${id}, with a copy of this data folder: both may do what only one should. Stop the one with the copy, delete its file gateway-id and start it again.`,
      ),
    );
  }

  async #takeOver(gone: GatewayRow): Promise<void> {
    const { store, id, onFailover } = this.#options;
    this.#mayHaveMore = true;
    const work = await store.takeOver(id, gone);
    this.#mayHaveMore = false;
    this.#seen.delete(gone.id);
    onFailover(work);
  }

  /** Work taken over without an answer is listed under this gateway. */
  async #lookAgain(): Promise<void> {
    if (!this.#mayHaveMore) return;
    const { store, id, onFailover } = this.#options;
    const work = await store.markersOf(id).all();
    this.#mayHaveMore = false;
    onFailover(work);
  }

  async #takeTasks(): Promise<void> {
    const { store, id, onError } = this.#options;
    for (const task of this.#tasks) {
      if (this.#isClosed || this.#running.has(task) || !(await store.takeTask(id, task.name)))
        continue;
      // It may have been told to end in the meantime, or have waited for long.
      if (!this.#tasks.includes(task) || this.isUnsure) continue;
      this.#running.add(task);
      await task.start().catch((error: unknown) => {
        // The next heartbeat tries again.
        this.#running.delete(task);
        onError(error);
      });
    }
  }

  #moment(): Moment {
    return { steady: performance.now(), wall: Date.now() };
  }

  /** Never rejects. */
  async #stopTasks(): Promise<void> {
    const running = [...this.#running];
    this.#running.clear();
    await Promise.all(running.map((task) => task.stop().catch(this.#options.onError)));
  }
}
