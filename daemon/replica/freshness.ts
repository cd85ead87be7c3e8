import type { Clock } from '../../shared/lib/clock.ts';
import type { Freshness } from './status.ts';

/** A stream that is silent for longer is dead: the gateway says something every 15 s. */
export const SILENCE_MAX_MS = 20_000;
/** The copy still answers so long after the stream ended, and while it lacks what the stream has told. */
const GRACE_MS = 5000;
/** Without the gateway the copy answers until it is this old. */
export const STALE_MAX_MS = 24 * 3_600_000;
/** What is heard within this time counts as heard together. */
const TOGETHER_MS = 50;
/** So many positions are remembered apart, which is many times the grace. */
const MISSING_MAX = 1000;

/** Judges from what was heard of the gateway, and what the copy has of it, whether the copy may answer. */
export class FreshnessJudge {
  readonly #clock: Clock;
  /** Positions that were heard and are not in the copy, oldest first. */
  #missing: { position: number; readonly at: number }[] = [];
  #position = -1;
  #lastContact: { readonly position: number; readonly at: number } | null = null;
  #streamEndedAt: number | null = null;
  #streaming = false;
  /** Where the gateway stood when the stream began: what happened before it was not told of. */
  #beganAt = -1;
  #reachable = true;
  #isDoubted = false;
  #completeAt: number | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** When the copy was last known to have everything; null when it never was. */
  get completeAt(): number | null {
    return this.#completeAt;
  }

  /** What an earlier run of the daemon knew. */
  remember(completeAt: number): void {
    this.#completeAt = completeAt;
  }

  /** The stream told where the gateway stands. */
  contacted(position: number): void {
    const at = this.#clock.now();
    if (!this.#streaming) this.#beganAt = position;
    this.#streaming = true;
    this.#reachable = true;
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

  /** Something else got no answer: the stream may be dead without a word. */
  doubt(): void {
    this.#isDoubted = this.#streaming;
  }

  /** True from then on until the stream says something, or ends. */
  get isDoubted(): boolean {
    return this.#isDoubted;
  }

  reachable(yes: boolean): void {
    this.#reachable = yes;
    // From here on nobody would be told what the copy lacks: it is not live before there is a stream again.
    if (!yes) this.#streamEndedAt = null;
  }

  /** The copy is as far as this. */
  has(position: number): void {
    this.#position = position;
    while (this.#missing[0] && this.#missing[0].position <= position) this.#missing.shift();
    const { position: newest, at } = this.#lastContact ?? { position: Infinity, at: 0 };
    if (newest <= position) this.#completeAt = Math.max(this.#completeAt ?? 0, at);
  }

  /** There is no copy, or another one. */
  forget(): void {
    // Positions of another history mean nothing: the next stream begins with where the gateway stands.
    this.#missing = [];
    this.#lastContact = null;
    this.#beganAt = -1;
    this.#position = -1;
    this.#completeAt = null;
  }

  judge(): Freshness {
    const now = this.#clock.now();
    const ageMs = this.#completeAt === null ? Infinity : Math.max(0, now - this.#completeAt);
    if (this.#completeAt !== null && this.#isLive(now)) return { usable: 'live', ageMs };
    const isStale = !this.#reachable && ageMs <= STALE_MAX_MS;
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
