import type { Change } from './context.ts';
import { ServiceError, unavailable } from './errors.ts';
import type { Follower } from './executor.ts';
import {
  SUBSCRIPTIONS_PER_KEY,
  SUBSCRIPTIONS_PER_PROJECT,
  WAITS_PER_KEY,
  WAITS_PER_PROJECT,
} from './limits.ts';
import { once } from './once.ts';

type Woken = 'changed' | 'timeout' | 'closed' | 'revoked' | 'aborted';

interface Waiter {
  readonly keyId: string;
  readonly concerns: (change: Change) => boolean;
  /** Set when something changed while the waiter was looking: it must look again before it sleeps. */
  stale: boolean;
  /** Set when its key was revoked: it is told nothing more. */
  revoked: boolean;
  wake: ((how: Woken) => void) | null;
}

interface PlaceLimits {
  readonly perKey: number;
  readonly perProject: number;
  /** Names them in the hint of a refusal, with a blank behind it. */
  readonly what: string;
}

const COUNTED_WAITS = { perKey: WAITS_PER_KEY, perProject: WAITS_PER_PROJECT, what: '' };
const SUBSCRIPTIONS = {
  perKey: SUBSCRIPTIONS_PER_KEY,
  perProject: SUBSCRIPTIONS_PER_PROJECT,
  what: 'subscriptions ',
};

/** So many places, and so many of them for one key. */
class Places {
  readonly #byKey = new Map<string, number>();
  readonly #limits: PlaceLimits;
  #taken = 0;

  constructor(limits: PlaceLimits) {
    this.#limits = limits;
  }

  /** Returns what gives the place back. TOO_MANY_WAITS. */
  take(keyId: string): () => void {
    const ofKey = this.#byKey.get(keyId) ?? 0;
    const { perKey, perProject, what } = this.#limits;
    if (ofKey >= perKey || this.#taken >= perProject) {
      throw new ServiceError('TOO_MANY_WAITS', {
        hint: `${perKey} ${what}per key and ${perProject} per project; let one end first.`,
      });
    }
    this.#byKey.set(keyId, ofKey + 1);
    this.#taken += 1;
    return () => {
      this.#taken -= 1;
      const left = (this.#byKey.get(keyId) ?? 1) - 1;
      if (left > 0) this.#byKey.set(keyId, left);
      else this.#byKey.delete(keyId);
    };
  }
}

/** Those who wait in one project, or follow what happens in it: how many there are, and whom a change wakes. */
export class Waits {
  readonly #waiters = new Set<Waiter>();
  readonly #followers = new Map<Follower, string>();
  /** Of counted waits, and of followers. */
  readonly #places = new Places(COUNTED_WAITS);
  readonly #seats = new Places(SUBSCRIPTIONS);
  #closed = false;
  readonly #onEnter: (() => void) | undefined;

  /** `onEnter` is told of each wait that begins. */
  constructor(onEnter?: () => void) {
    this.#onEnter = onEnter;
  }

  get size(): number {
    return this.#waiters.size + this.#followers.size;
  }

  /** Called after the commit that made an event claimable, ended a request, or changed what followers look at. */
  notify(change: Change): void {
    for (const follower of this.#followers.keys()) follower.changed(change);
    for (const waiter of this.#waiters) {
      if (!waiter.concerns(change)) continue;
      waiter.stale = true;
      waiter.wake?.('changed');
    }
  }

  /** Called when something changed and it is not known what: everybody looks again. */
  notifyAll(): void {
    for (const follower of this.#followers.keys()) follower.changed(null);
    for (const waiter of this.#waiters) {
      waiter.stale = true;
      waiter.wake?.('changed');
    }
  }

  /** Ends the waits of a key that was revoked, with KEY_REVOKED, and tells its followers nothing more. */
  endOf(keyId: string): void {
    for (const [follower, ofKey] of this.#followers) {
      if (ofKey === keyId) follower.ended('KEY_REVOKED');
    }
    for (const waiter of this.#waiters) {
      if (waiter.keyId !== keyId) continue;
      waiter.revoked = true;
      waiter.wake?.('revoked');
    }
  }

  /** Ends every wait as at its timeout, and whoever follows. */
  close(): void {
    this.#closed = true;
    for (const follower of this.#followers.keys()) follower.ended('UNAVAILABLE');
    for (const waiter of this.#waiters) waiter.wake?.('closed');
  }

  /** Tells of every change until what it returns is called. TOO_MANY_WAITS; UNAVAILABLE when it is being closed. */
  follow(keyId: string, follower: Follower): () => void {
    if (this.#closed) throw unavailable(1);
    const leave = once(this.#seats.take(keyId));
    this.#followers.set(follower, keyId);
    this.#onEnter?.();
    return () => {
      this.#followers.delete(follower);
      leave();
    };
  }

  /**
   * Looks, and looks again after every change that concerns the waiter, until there is something or `timeoutMs` have
   * passed (null). It listens before it looks first, so nothing is missed in between.
   */
  async wait<T>(wait: {
    readonly keyId: string;
    /** Whether it is one of those of which a key and a project may have so many. */
    readonly counted: boolean;
    readonly concerns: (change: Change) => boolean;
    readonly look: () => Promise<T | null>;
    readonly timeoutMs: number;
    readonly signal: AbortSignal;
  }): Promise<T | null> {
    const { keyId, concerns } = wait;
    const waiter: Waiter = { keyId, concerns, stale: false, revoked: false, wake: null };
    const leave = this.#enter(waiter, wait.counted);
    const endsAt = performance.now() + wait.timeoutMs;
    try {
      for (;;) {
        waiter.stale = false;
        const found = await wait.look();
        refuseRevoked(waiter);
        if (found !== null || this.#closed) return found;
        // Looked at in every round: what others claim keeps a wait looking, and it must end all the same.
        if (performance.now() >= endsAt) return null;
        if (waiter.stale) continue;
        const how = await sleep(waiter, endsAt, wait.signal);
        if (how === 'aborted') throw new Error('The caller has gone.');
        refuseRevoked(waiter);
        if (how !== 'changed') return null;
      }
    } finally {
      leave();
    }
  }

  #enter(waiter: Waiter, counted: boolean): () => void {
    const release = counted ? this.#places.take(waiter.keyId) : (): void => undefined;
    this.#waiters.add(waiter);
    this.#onEnter?.();
    return () => {
      this.#waiters.delete(waiter);
      release();
    };
  }
}

function refuseRevoked(waiter: Waiter): void {
  if (waiter.revoked) throw new ServiceError('KEY_REVOKED');
}

function sleep(waiter: Waiter, endsAt: number, signal: AbortSignal): Promise<Woken> {
  return new Promise((resolve) => {
    const aborted = (): void => done('aborted');
    const timer = setTimeout(() => done('timeout'), Math.max(0, endsAt - performance.now()));
    const done = (how: Woken): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', aborted);
      waiter.wake = null;
      resolve(how);
    };
    waiter.wake = done;
    if (signal.aborted) done('aborted');
    else signal.addEventListener('abort', aborted, { once: true });
  });
}
