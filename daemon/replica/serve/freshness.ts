import type { Clock } from '../../../shared/lib/clock.ts';
import type { Freshness } from '../status.ts';

/** A stream that stays silent for longer is dead: the gateway sends something every 15 s. */
export const SILENCE_MAX_MS = 20_000;
/** How long the replica still answers after the stream ended, or while it lacks an announced commit. */
const GRACE_MS = 5000;
/** Without the gateway, the replica answers until this age. */
export const STALE_MAX_MS = 24 * 3_600_000;
/** Announcements within this time count as one. */
const TOGETHER_MS = 50;
/** The number of separate positions to remember; they cover many times the grace period. */
const MISSING_MAX = 1000;

/** Decides if the replica may answer: compares the gateway's announcements with the replica's position. */
export class FreshnessJudge {
  readonly #clock: Clock;
  /** Announced positions that the replica lacks, oldest first. */
  #missing: { position: number; readonly at: number }[] = [];
  #position = -1;
  #lastContact: { readonly position: number; readonly at: number } | null = null;
  #streamEndedAt: number | null = null;
  #streaming = false;
  /** The gateway's position at the start of the stream, which doesn't announce earlier commits. */
  #beganAt = -1;
  #isSilent = false;
  #isDoubted = false;
  #completeAt: number | null = null;
  #delayMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** When the replica was last known to be complete; null if it never was. */
  get completeAt(): number | null {
    return this.#completeAt;
  }

  /** Restores the value of an earlier run. */
  remember(completeAt: number): void {
    this.#completeAt = completeAt;
  }

  /** The stream announced the gateway's position. */
  contacted(position: number): void {
    const at = this.#clock.now();
    if (!this.#streaming) this.#beganAt = position;
    this.#streaming = true;
    this.#isSilent = false;
    this.#isDoubted = false;
    this.#lastContact = { position, at };
    if (position <= this.#position) {
      this.#completeAt = at;
      return;
    }
    const last = this.#missing.at(-1);
    const isFull = this.#missing.length === MISSING_MAX;
    if (last && (isFull || at - last.at < TOGETHER_MS)) {
      last.position = Math.max(last.position, position);
    } else {
      this.#missing.push({ position, at });
    }
  }

  streamEnded(): void {
    if (this.#streaming) this.#streamEndedAt = this.#clock.now();
    this.#streaming = false;
    this.#isDoubted = false;
  }

  /** Another call got no answer: the stream may be dead too. */
  doubt(): void {
    this.#isDoubted = this.#streaming;
  }

  /** True after `doubt` until the stream sends something or ends. */
  get isDoubted(): boolean {
    return this.#isDoubted;
  }

  /** True from when the gateway didn't answer until it does. */
  get isSilent(): boolean {
    return this.#isSilent;
  }

  /** The gateway doesn't answer now. The stream may yet speak, so a live replica stays live. */
  silent(): void {
    this.#isSilent = true;
  }

  /** How long the gateway's last answer took; 0 if it came in time. What the stream says may be just as old. */
  delayed(ms: number): void {
    this.#delayMs = ms;
  }

  reachable(yes: boolean): void {
    this.#isSilent = !yes;
    // From now on nobody announces commits, so the replica isn't live until there's a stream again.
    if (!yes) this.#streamEndedAt = null;
  }

  /** The replica has reached this position. */
  has(position: number): void {
    this.#position = position;
    while (this.#missing[0] && this.#missing[0].position <= position) this.#missing.shift();
    const { position: newest, at } = this.#lastContact ?? { position: Infinity, at: 0 };
    if (newest <= position) this.#completeAt = Math.max(this.#completeAt ?? 0, at);
  }

  /** The replica is gone or replaced. */
  forget(): void {
    // Positions of another history mean nothing; the next stream starts with the gateway's position.
    this.#missing = [];
    this.#lastContact = null;
    this.#beganAt = -1;
    this.#position = -1;
    this.#completeAt = null;
  }

  judge(): Freshness {
    const now = this.#clock.now();
    const ageMs =
      this.#completeAt === null ? Infinity : Math.max(0, now - this.#completeAt) + this.#delayMs;
    if (this.#completeAt !== null && this.#isLive(now)) return { usable: 'live', ageMs };
    const isStale = this.#isSilent && ageMs <= STALE_MAX_MS;
    return { usable: isStale ? 'stale' : 'no', ageMs };
  }

  #isLive(now: number): boolean {
    if (!this.#lastContact || now - this.#lastContact.at > SILENCE_MAX_MS) return false;
    if (!this.#streaming && now - (this.#streamEndedAt ?? 0) > GRACE_MS) return false;
    if (this.#position < this.#beganAt) return false;
    const missingSince = this.#missing[0]?.at;
    return missingSince === undefined || now - missingSince <= GRACE_MS;
  }
}
