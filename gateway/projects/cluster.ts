import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../shared/lib/clock.ts';
import { LEFT, type GatewayRow, type GatewayStore } from '../store/control/gateways.ts';
import type { ProjectIdleState } from '../store/control/idle-markers.ts';

const HEARTBEAT_MS = 2_000;
/** A gateway whose heartbeat stands still for so long is taken for dead. */
export const DEAD_AFTER_MS = 15_000;
/** One that could give no heartbeat for so long does no tasks and writes nothing: another may have taken them on. */
const UNSURE_AFTER_MS = 10_000;

/** What only one gateway does at a time, such as reading a mailbox. */
export interface LeaderTask {
  readonly name: string;
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface ClusterOptions {
  readonly store: Pick<GatewayStore, 'beat' | 'leave' | 'markersOf' | 'takeTask' | 'takeOver'>;
  /** Of this gateway: `gatewayIdIn` its data folder. */
  readonly id: string;
  readonly clock: Clock;
  /** Gets what a gateway looked after that has died or left: from now on this one does. */
  readonly onFailover: (work: readonly ProjectIdleState[]) => void;
  /** The others took this one for dead: what it looked after they do, and it begins anew. */
  readonly onLost: () => void;
  readonly onError: (error: unknown) => void;
  /** For tests. */
  readonly timing?: {
    readonly beatMs: number;
    readonly deadAfterMs: number;
    readonly unsureAfterMs: number;
  };
}

interface Moment {
  readonly steady: number;
  readonly wall: number;
}

interface Seen {
  beat: number;
  /** When it was first seen with this heartbeat, in milliseconds of a steady clock. */
  at: number;
}

/**
 * The gateways that share a store. Each gives a heartbeat every two seconds; what a dead one looked after is taken over by whoever
 * notices first, in one transaction. Nobody's clock is compared with another's.
 */
export class Cluster {
  readonly #options: ClusterOptions;
  readonly #heartbeatMs: number;
  readonly #deadAfterMs: number;
  readonly #unsureAfterMs: number;
  readonly #seen = new Map<string, Seen>();
  readonly #tasks: LeaderTask[] = [];
  readonly #running = new Set<LeaderTask>();
  /** When another was last there; a while before all time when none ever was. */
  #othersAt = Number.NEGATIVE_INFINITY;
  /** When the newest heartbeat was asked for, by a steady clock and by that of the wall. */
  #lastHeartbeat: Moment;
  /** The newest that this one gave; null when that is not known. */
  #given: number | null = null;
  #hasReportedDuplicate = false;
  #timer: NodeJS.Timeout | null = null;
  /** Fires when no heartbeat could be given for so long that the tasks may be another's. */
  #doubt: NodeJS.Timeout | null = null;
  #heartbeat: Promise<void> = Promise.resolve();
  #isClosed = false;
  #hasBegun = false;
  /** Something may have been taken over of which the answer was lost. */
  #mayHaveMore = false;

  constructor(options: ClusterOptions) {
    this.#options = options;
    this.#heartbeatMs = options.timing?.beatMs ?? HEARTBEAT_MS;
    this.#deadAfterMs = options.timing?.deadAfterMs ?? DEAD_AFTER_MS;
    this.#unsureAfterMs = options.timing?.unsureAfterMs ?? UNSURE_AFTER_MS;
    this.#lastHeartbeat = this.#moment();
  }

  /**
   * The others may have taken this one for dead, and have moved a project away: nothing is to be written until the next
   * heartbeat tells. A machine that was suspended shows by the clock on the wall alone.
   */
  get isUnsure(): boolean {
    const { steady, wall } = this.#moment();
    const silentMs = Math.max(steady - this.#lastHeartbeat.steady, wall - this.#lastHeartbeat.wall);
    return silentMs > this.#unsureAfterMs;
  }

  /** Whether others are there, or were until a moment ago: one that was taken for dead may still end what it had begun. */
  get hasOthers(): boolean {
    return performance.now() - this.#othersAt <= this.#deadAfterMs;
  }

  /** To be done by one of them; begun by the next heartbeat that finds it free. */
  add(leaderTask: LeaderTask): void {
    this.#tasks.push(leaderTask);
  }

  /** Resolves when the first heartbeat is given. Throws when it cannot be. */
  async start(): Promise<void> {
    await this.#sendHeartbeat();
    this.#again();
  }

  /** Ends its tasks, and takes on none: for when it is about to close. */
  async endTasks(): Promise<void> {
    this.#tasks.length = 0;
    await this.#stopTasks();
  }

  /** Leaves what it looks after to the others. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#timer) clearTimeout(this.#timer);
    await this.#heartbeat;
    if (this.#doubt) clearTimeout(this.#doubt);
    await this.#stopTasks();
    // The others notice in time when this fails.
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
    const { store, id, clock, onLost } = this.#options;
    const asked = this.#moment();
    const given = this.#given;
    this.#given = null;
    const { wasGone, before, others } = await store.beat(id, clock.now());
    this.#given = Math.max(before ?? 0, 0) + 1;
    if (given !== null && before !== null && before > given) this.#noteDuplicate();
    // The answer of one that told so may have been lost, and this be the next.
    const wasSilent = asked.steady - this.#lastHeartbeat.steady > this.#deadAfterMs;
    this.#lastHeartbeat = asked;
    this.#doubtLater(asked.steady);
    if (this.#hasBegun && (wasGone || wasSilent)) {
      await this.#stopTasks();
      onLost();
    }
    this.#hasBegun = true;
    for (const other of this.#dead(others)) await this.#takeOver(other);
    await this.#lookAgain();
    await this.#takeTasks();
  }

  /** By a timer of its own: while the store holds a heartbeat back, no other is begun. */
  #doubtLater(askedAt: number): void {
    if (this.#doubt) clearTimeout(this.#doubt);
    const inMs = askedAt + this.#unsureAfterMs - performance.now();
    this.#doubt = setTimeout(() => void this.#stopTasks(), Math.max(0, inMs));
    this.#doubt.unref();
  }

  /** Those that have left, or have been seen with the same heartbeat for too long. */
  #dead(others: readonly GatewayRow[]): GatewayRow[] {
    const now = performance.now();
    const ids = new Set(others.map(({ id }) => id));
    for (const id of this.#seen.keys()) if (!ids.has(id)) this.#seen.delete(id);
    // One that has left since it was looked for may have written before.
    if (others.length > 0) this.#othersAt = now;
    return others.filter(({ id, beat }) => {
      if (beat === LEFT) return true;
      const seen = this.#seen.get(id);
      if (!seen || seen.beat !== beat) this.#seen.set(id, { beat, at: now });
      return seen?.beat === beat && now - seen.at > this.#deadAfterMs;
    });
  }

  /** Somebody else gives heartbeats under this id. The lock of a data folder says nothing of its copy. */
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

  /** What was taken over without an answer is among what this one looks after. */
  async #lookAgain(): Promise<void> {
    if (!this.#mayHaveMore) return;
    const { store, id, onFailover } = this.#options;
    const work = await store.markersOf(id).all();
    this.#mayHaveMore = false;
    onFailover(work);
  }

  async #takeTasks(): Promise<void> {
    const { store, id, onError } = this.#options;
    for (const leaderTask of this.#tasks) {
      if (
        this.#isClosed ||
        this.#running.has(leaderTask) ||
        !(await store.takeTask(id, leaderTask.name))
      )
        continue;
      // It may have been called to end meanwhile, or have waited for long.
      if (!this.#tasks.includes(leaderTask) || this.isUnsure) continue;
      this.#running.add(leaderTask);
      await leaderTask.start().catch((error: unknown) => {
        // The next heartbeat tries again.
        this.#running.delete(leaderTask);
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
    await Promise.all(running.map((leaderTask) => leaderTask.stop().catch(this.#options.onError)));
  }
}

/** The id of the gateway that has this data folder for itself: the same after a restart, which so goes on where it stopped. */
export function gatewayIdIn(dataFolder: string): string {
  const file = join(dataFolder, 'gateway-id');
  if (existsSync(file)) {
    const id = readFileSync(file, 'utf8').trim();
    if (/^gtw_[0-9a-f]{16}$/.test(id)) return id;
  }
  const id = `gtw_${randomBytes(8).toString('hex')}`;
  writeFileSync(file, `${id}\n`, { mode: 0o600 });
  return id;
}
