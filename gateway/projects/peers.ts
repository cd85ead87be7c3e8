import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../shared/lib/clock.ts';
import { LEFT, type GatewayRow, type GatewayStore } from '../store/control/gateways.ts';
import type { ProjectIdleState } from '../store/control/idle-markers.ts';

const BEAT_MS = 2_000;
/** A gateway whose beat stands still for so long is taken for dead. */
export const DEAD_AFTER_MS = 15_000;
/** One that could give no beat for so long does no duties and writes nothing: another may have taken them on. */
const UNSURE_AFTER_MS = 10_000;

/** What only one gateway does at a time, such as reading a mailbox. */
export interface Duty {
  readonly name: string;
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface PeersOptions {
  readonly store: Pick<GatewayStore, 'beat' | 'leave' | 'markersOf' | 'takeDuty' | 'takeOver'>;
  /** Of this gateway: `gatewayIdIn` its data folder. */
  readonly id: string;
  readonly clock: Clock;
  /** Gets what a gateway looked after that has died or left: from now on this one does. */
  readonly onInherited: (work: readonly ProjectIdleState[]) => void;
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
  /** When it was first seen with this beat, in milliseconds of a steady clock. */
  at: number;
}

/**
 * The gateways that share a store. Each gives a beat every two seconds; what a dead one looked after is taken over by whoever
 * notices first, in one transaction. Nobody's clock is compared with another's.
 */
export class Peers {
  readonly #options: PeersOptions;
  readonly #beatMs: number;
  readonly #deadAfterMs: number;
  readonly #unsureAfterMs: number;
  readonly #seen = new Map<string, Seen>();
  readonly #duties: Duty[] = [];
  readonly #held = new Set<Duty>();
  /** When another was last there; a while before all time when none ever was. */
  #othersAt = Number.NEGATIVE_INFINITY;
  /** When the newest beat was asked for, by a steady clock and by that of the wall. */
  #lastBeat: Moment;
  /** The newest that this one gave; null when that is not known. */
  #given: number | null = null;
  #hasToldOfTwin = false;
  #timer: NodeJS.Timeout | null = null;
  /** Fires when no beat could be given for so long that the duties may be another's. */
  #doubt: NodeJS.Timeout | null = null;
  #beating: Promise<void> = Promise.resolve();
  #isClosed = false;
  #hasBegun = false;
  /** Something may have been taken over of which the answer was lost. */
  #mayHaveMore = false;

  constructor(options: PeersOptions) {
    this.#options = options;
    this.#beatMs = options.timing?.beatMs ?? BEAT_MS;
    this.#deadAfterMs = options.timing?.deadAfterMs ?? DEAD_AFTER_MS;
    this.#unsureAfterMs = options.timing?.unsureAfterMs ?? UNSURE_AFTER_MS;
    this.#lastBeat = this.#moment();
  }

  /**
   * The others may have taken this one for dead, and have moved a project away: nothing is to be written until the next
   * beat tells. A machine that was suspended shows by the clock on the wall alone.
   */
  get isUnsure(): boolean {
    const { steady, wall } = this.#moment();
    const silentMs = Math.max(steady - this.#lastBeat.steady, wall - this.#lastBeat.wall);
    return silentMs > this.#unsureAfterMs;
  }

  /** Whether others are there, or were until a moment ago: one that was taken for dead may still end what it had begun. */
  get hasOthers(): boolean {
    return performance.now() - this.#othersAt <= this.#deadAfterMs;
  }

  /** To be done by one of them; begun by the next beat that finds it free. */
  add(duty: Duty): void {
    this.#duties.push(duty);
  }

  /** Resolves when the first beat is given. Throws when it cannot be. */
  async start(): Promise<void> {
    await this.#beat();
    this.#again();
  }

  /** Ends its duties, and takes on none: for when it is about to close. */
  async endDuties(): Promise<void> {
    this.#duties.length = 0;
    await this.#stopDuties();
  }

  /** Leaves what it looks after to the others. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#timer) clearTimeout(this.#timer);
    await this.#beating;
    if (this.#doubt) clearTimeout(this.#doubt);
    await this.#stopDuties();
    // The others notice in time when this fails.
    if (this.#hasBegun)
      await this.#options.store.leave(this.#options.id).catch(this.#options.onError);
  }

  #again(): void {
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#beating = this.#beat()
        .catch(this.#options.onError)
        .finally(() => this.#again());
    }, this.#beatMs);
  }

  async #beat(): Promise<void> {
    const { store, id, clock, onLost } = this.#options;
    const asked = this.#moment();
    const given = this.#given;
    this.#given = null;
    const { wasGone, before, others } = await store.beat(id, clock.now());
    this.#given = Math.max(before ?? 0, 0) + 1;
    if (given !== null && before !== null && before > given) this.#noteTwin();
    // The answer of one that told so may have been lost, and this be the next.
    const wasSilent = asked.steady - this.#lastBeat.steady > this.#deadAfterMs;
    this.#lastBeat = asked;
    this.#doubtLater(asked.steady);
    if (this.#hasBegun && (wasGone || wasSilent)) {
      await this.#stopDuties();
      onLost();
    }
    this.#hasBegun = true;
    for (const other of this.#dead(others)) await this.#inherit(other);
    await this.#lookAgain();
    await this.#takeDuties();
  }

  /** By a timer of its own: while the store holds a beat back, no other is begun. */
  #doubtLater(askedAt: number): void {
    if (this.#doubt) clearTimeout(this.#doubt);
    const inMs = askedAt + this.#unsureAfterMs - performance.now();
    this.#doubt = setTimeout(() => void this.#stopDuties(), Math.max(0, inMs));
    this.#doubt.unref();
  }

  /** Those that have left, or have been seen with the same beat for too long. */
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

  /** Somebody else gives beats under this id. The lock of a data folder says nothing of its copy. */
  #noteTwin(): void {
    this.#othersAt = performance.now();
    if (this.#hasToldOfTwin) return;
    this.#hasToldOfTwin = true;
    const { id, onError } = this.#options;
    onError(
      new Error(
        `Another gateway runs as ${id}, with a copy of this data folder: both may do what only one should. Stop the one with the copy, delete its file gateway-id and start it again.`,
      ),
    );
  }

  async #inherit(gone: GatewayRow): Promise<void> {
    const { store, id, onInherited } = this.#options;
    this.#mayHaveMore = true;
    const work = await store.takeOver(id, gone);
    this.#mayHaveMore = false;
    this.#seen.delete(gone.id);
    onInherited(work);
  }

  /** What was taken over without an answer is among what this one looks after. */
  async #lookAgain(): Promise<void> {
    if (!this.#mayHaveMore) return;
    const { store, id, onInherited } = this.#options;
    const work = await store.markersOf(id).all();
    this.#mayHaveMore = false;
    onInherited(work);
  }

  async #takeDuties(): Promise<void> {
    const { store, id, onError } = this.#options;
    for (const duty of this.#duties) {
      if (this.#isClosed || this.#held.has(duty) || !(await store.takeDuty(id, duty.name)))
        continue;
      // It may have been called to end meanwhile, or have waited for long.
      if (!this.#duties.includes(duty) || this.isUnsure) continue;
      this.#held.add(duty);
      await duty.start().catch((error: unknown) => {
        // The next beat tries again.
        this.#held.delete(duty);
        onError(error);
      });
    }
  }

  #moment(): Moment {
    return { steady: performance.now(), wall: Date.now() };
  }

  /** Never rejects. */
  async #stopDuties(): Promise<void> {
    const held = [...this.#held];
    this.#held.clear();
    await Promise.all(held.map((duty) => duty.stop().catch(this.#options.onError)));
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
