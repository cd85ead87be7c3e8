import { isoTime, type Clock } from '../../shared/lib/clock.ts';
import type { Change } from '../../shared/kernel/context.ts';
import { unavailable, type ErrorCode } from '../../shared/lib/errors.ts';
import type { LogPosition } from '../../shared/store/engine/driver.ts';
import type { Effect } from '../commit/context/job.ts';

/**
 * Updates are batched, and the more followers there are the longer the pause: telling them takes time from the
 * gateway's other work. A single change is sent at once.
 */
const PAUSE_MS = 5;
const PAUSE_MS_A_FOLLOWER = 1;
/** A batch with more kinds of change than this is sent as "everything changed". */
const CHANGES_MAX = 50;
/** A follower that hears nothing for longer than this may assume the connection is dead. */
const SILENCE_MS = 15_000;

/** How far a project has come. */
interface ReplicationPosition {
  readonly position: number;
  /** Null while the database keeps no log. */
  readonly log: Pick<LogPosition, 'epoch' | 'generation'> | null;
}

/** Gets every commit as event-stream text. Its methods never throw. */
export interface Follower {
  readonly keyId: string;
  /** When its key expires; null if it never does. */
  readonly expiresAt: string | null;
  /** Resolves to the reason it may no longer listen; null while it may. */
  readonly refusal: () => Promise<ErrorCode | null>;
  readonly send: (text: string) => void;
  /** Sends the last text and ends the stream. */
  readonly end: (text: string) => void;
}

interface Joining {
  /** Counts a follower by its key, and returns what to call when it leaves. Throws TOO_MANY_WAITS. */
  readonly hold: (keyId: string) => () => void;
  readonly onJoined: () => void;
}

/**
 * Tells a project's followers its position after each commit, and stops as soon as a follower's key ends. Costs
 * nothing while nobody listens.
 */
export class Feed {
  readonly #replication: () => ReplicationPosition;
  readonly #clock: Clock;
  readonly #joining: Joining;
  /** And what to call when each leaves. */
  readonly #followers = new Map<Follower, () => void>();
  #news = new Map<string, Change>();
  /** The position that every follower has been told or started with. */
  #told: { epoch: string; position: number } = { epoch: '', position: 0 };
  /** Something changed, but we don't know what. */
  #isUnclear = false;
  #isDue = false;
  #toldAt = 0;
  /** Checks of changed keys that are running. Until we know whose key changed, no follower gets an update. */
  #holds = 0;
  #ticker: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(replication: () => ReplicationPosition, clock: Clock, joining: Joining) {
    this.#replication = replication;
    this.#clock = clock;
    this.#joining = joining;
  }

  /** The number of followers. */
  get size(): number {
    return this.#followers.size;
  }

  /**
   * Adds a follower and sends it the position. Returns a function that removes it and may be called more than once.
   * Throws TOO_MANY_WAITS, or UNAVAILABLE if the project is closing or keeps no log.
   */
  join(follower: Follower): () => void {
    const { position, log } = this.#replication();
    if (this.#isClosed || !log) throw unavailable(1);
    const left = this.#joining.hold(follower.keyId);
    if (this.size === 0) {
      this.#told = { epoch: log.epoch, position };
      this.#ticker = setInterval(() => this.#tick(), SILENCE_MS);
    }
    this.#followers.set(follower, left);
    this.#joining.onJoined();
    follower.send(this.#place());
    // Its key may have ended between the check and the join.
    void this.#endRefused([follower]);
    return () => this.#remove(follower);
  }

  /** Records an effect of a commit. */
  note(effect: Effect): void {
    if (this.size === 0) return;
    switch (effect.kind) {
      case 'committed':
        this.#tellSoon();
        break;
      case 'event_ready':
        this.#add({ kind: 'event', source: effect.source, type: effect.type });
        break;
      case 'request_ended':
        this.#add({ kind: 'request', id: effect.id });
        break;
      case 'disk_changed':
        this.#add({ kind: 'disk' });
        break;
      case 'inbox_changed':
        this.#add({ kind: 'inbox' });
        break;
      case 'foreign':
        this.#isUnclear = true;
        void this.#holdWhileLooking();
        break;
      case 'keys_changed':
      case 'key_ended':
        void this.#holdWhileLooking();
        break;
      default:
    }
  }

  /** Ends all streams and accepts no new ones. */
  close(): void {
    this.#isClosed = true;
    for (const follower of this.#followers.keys()) this.#end(follower, 'UNAVAILABLE');
  }

  #remove(follower: Follower): void {
    this.#followers.get(follower)?.();
    this.#followers.delete(follower);
    if (this.size > 0) return;
    clearInterval(this.#ticker);
    this.#news.clear();
  }

  #end(follower: Follower, code: ErrorCode): void {
    this.#remove(follower);
    follower.end(eventText('end', { code }));
  }

  #add(change: Change): void {
    if (this.#news.size <= CHANGES_MAX) this.#news.set(JSON.stringify(change), change);
    this.#tellSoon();
  }

  /** Runs after the effects that arrive in this turn of the event loop. */
  #tellSoon(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    const apartMs = PAUSE_MS + (this.size - 1) * PAUSE_MS_A_FOLLOWER;
    const pauseMs = this.#toldAt + apartMs - performance.now();
    if (pauseMs <= 0) setImmediate(() => this.#announce());
    else setTimeout(() => this.#announce(), pauseMs);
  }

  #announce(): void {
    this.#isDue = false;
    if (this.#holds > 0 || this.size === 0) return;
    this.#endExpired();
    this.#toldAt = performance.now();
    const { position, log } = this.#replication();
    if (log && log.epoch !== this.#told.epoch) {
      this.#told.epoch = log.epoch;
      this.#sendAll(this.#place());
    }
    if (position === this.#told.position && this.#news.size === 0 && !this.#isUnclear) return;
    this.#told.position = position;
    const news = [...this.#news.values()];
    this.#news.clear();
    const isAll = this.#isUnclear || news.length > CHANGES_MAX;
    this.#isUnclear = false;
    const changes = isAll ? { changes: [], all: true } : { changes: news };
    this.#sendAll(eventText('change', { position, time: this.#time(), ...changes }));
  }

  #tick(): void {
    const { position } = this.#replication();
    this.#endExpired();
    this.#sendAll(eventText('time', { time: this.#time(), position }));
    void this.#endRefused([...this.#followers.keys()]);
  }

  async #holdWhileLooking(): Promise<void> {
    this.#holds += 1;
    await this.#endRefused([...this.#followers.keys()]);
    this.#holds -= 1;
    if (this.#holds === 0) this.#tellSoon();
  }

  async #endRefused(followers: readonly Follower[]): Promise<void> {
    const looks = followers.map(async (follower) => {
      const code = await follower.refusal();
      if (code !== null && this.#followers.has(follower)) this.#end(follower, code);
    });
    await Promise.all(looks);
  }

  #endExpired(): void {
    const now = this.#time();
    for (const follower of this.#followers.keys()) {
      if (follower.expiresAt !== null && follower.expiresAt <= now) {
        this.#end(follower, 'UNAUTHENTICATED');
      }
    }
  }

  #sendAll(text: string): void {
    for (const follower of this.#followers.keys()) follower.send(text);
  }

  #place(): string {
    const { position, log } = this.#replication();
    const { epoch, generation } = log ?? {};
    return eventText('place', { epoch, generation, position, time: this.#time() });
  }

  #time(): string {
    return isoTime(this.#clock.now());
  }
}

function eventText(name: string, data: Readonly<Record<string, unknown>>): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
