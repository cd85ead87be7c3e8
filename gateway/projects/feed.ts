import { isoTime, type Clock } from '../../shared/lib/clock.ts';
import type { Change } from '../../shared/kernel/context.ts';
import { ServiceError, unavailable, type ErrorCode } from '../../shared/lib/errors.ts';
import { CHANGE_STREAMS_PER_PROJECT } from '../../shared/lib/limits.ts';
import type { LogPosition } from '../../shared/store/driver.ts';
import type { Effect } from '../commit/job.ts';

/**
 * However much happens, followers are told this seldom, and the more there are the seldomer: to tell them takes time that
 * the gateway needs for what happens. What comes alone is told at once.
 */
const PAUSE_MS = 5;
const PAUSE_MS_A_FOLLOWER = 1;
/** A change of more than this many kinds is told as one of everything. */
const CHANGES_MAX = 50;
/** Followers who hear nothing for longer than this may take it that the connection is dead. */
const SILENCE_MS = 15_000;

/** How far a project has come. */
interface ReplicationPosition {
  readonly position: number;
  /** Null while no log is kept. */
  readonly log: Pick<LogPosition, 'epoch' | 'generation'> | null;
}

/** Somebody who is told of every commit, as text of an event stream. Its methods never throw. */
export interface Follower {
  /** From this time on its key is none; null is never. */
  readonly expiresAt: string | null;
  /** Why it may listen no more; null while it may. */
  readonly refusal: () => Promise<ErrorCode | null>;
  readonly send: (text: string) => void;
  /** The last that it is sent. */
  readonly end: (text: string) => void;
}

/**
 * Tells the followers of a project how far it has come, after each commit. Nobody is told anything once their key is
 * none any more. Costs nothing while nobody listens.
 */
export class Feed {
  readonly #replication: () => ReplicationPosition;
  readonly #clock: Clock;
  readonly #onJoin: () => void;
  readonly #followers = new Set<Follower>();
  #news = new Map<string, Change>();
  /** What everybody has been told, or begins with. */
  #told: { epoch: string; position: number } = { epoch: '', position: 0 };
  /** Something happened that nobody knows here. */
  #isUnclear = false;
  #isDue = false;
  #toldAt = 0;
  /** Changes of keys that are being looked into: until it is known whose hold, nobody is told anything. */
  #holds = 0;
  #ticker: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** `onJoin` is told of each follower that comes. */
  constructor(replication: () => ReplicationPosition, clock: Clock, onJoin: () => void) {
    this.#replication = replication;
    this.#clock = clock;
    this.#onJoin = onJoin;
  }

  /** How many listen. */
  get size(): number {
    return this.#followers.size;
  }

  /**
   * Adds a follower and sends it the place. Returns what takes it away again, which may be called more than once.
   * TOO_MANY_WAITS; UNAVAILABLE when the project is being closed or its log is not kept.
   */
  join(follower: Follower): () => void {
    const { position, log } = this.#replication();
    if (this.#isClosed || !log) throw unavailable(1);
    if (this.size >= CHANGE_STREAMS_PER_PROJECT) {
      throw new ServiceError('TOO_MANY_WAITS', {
        hint: `${CHANGE_STREAMS_PER_PROJECT} streams of changes per project; let one end first.`,
        details: { kind: 'project', limit: CHANGE_STREAMS_PER_PROJECT, used: this.size },
      });
    }
    if (this.size === 0) {
      this.#told = { epoch: log.epoch, position };
      this.#ticker = setInterval(() => this.#tick(), SILENCE_MS);
    }
    this.#followers.add(follower);
    this.#onJoin();
    follower.send(this.#place());
    // Its key may have ended after it was checked, and before there was a follower to be told.
    void this.#look([follower]);
    return () => this.#leave(follower);
  }

  /** Takes in what came of a commit. */
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

  /** Ends all streams, and lets none begin. */
  close(): void {
    this.#isClosed = true;
    for (const follower of this.#followers) this.#end(follower, 'UNAVAILABLE');
  }

  #leave(follower: Follower): void {
    this.#followers.delete(follower);
    if (this.size > 0) return;
    clearInterval(this.#ticker);
    this.#news.clear();
  }

  #end(follower: Follower, code: ErrorCode): void {
    this.#leave(follower);
    follower.end(eventText('end', { code }));
  }

  #add(change: Change): void {
    if (this.#news.size <= CHANGES_MAX) this.#news.set(JSON.stringify(change), change);
    this.#tellSoon();
  }

  /** After the effects that are told in this turn. */
  #tellSoon(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    const apartMs = PAUSE_MS + (this.size - 1) * PAUSE_MS_A_FOLLOWER;
    const pauseMs = this.#toldAt + apartMs - performance.now();
    if (pauseMs <= 0) setImmediate(() => this.#tell());
    else setTimeout(() => this.#tell(), pauseMs);
  }

  #tell(): void {
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
    void this.#look([...this.#followers]);
  }

  async #holdWhileLooking(): Promise<void> {
    this.#holds += 1;
    await this.#look([...this.#followers]);
    this.#holds -= 1;
    if (this.#holds === 0) this.#tellSoon();
  }

  async #look(followers: readonly Follower[]): Promise<void> {
    const looks = followers.map(async (follower) => {
      const code = await follower.refusal();
      if (code !== null && this.#followers.has(follower)) this.#end(follower, code);
    });
    await Promise.all(looks);
  }

  #endExpired(): void {
    const now = this.#time();
    for (const follower of this.#followers) {
      if (follower.expiresAt !== null && follower.expiresAt <= now) {
        this.#end(follower, 'UNAUTHENTICATED');
      }
    }
  }

  #sendAll(text: string): void {
    for (const follower of this.#followers) follower.send(text);
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
