import type { Change } from './context.ts';
import { pluralize } from '../lib/pluralize.ts';
import { ServiceError, unavailable } from '../lib/errors.ts';
import type { Follower } from './executor.ts';
import {
  SUBSCRIPTIONS_PER_KEY,
  SUBSCRIPTIONS_PER_PROJECT,
  WAITS_PER_KEY,
  WAITS_PER_PROJECT,
} from '../lib/limits.ts';

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

interface WaitLimits {
  readonly perKey: number;
  readonly perProject: number;
  /** What the places are for, as the hint of a refusal names them. */
  readonly what: string;
}

const COUNTED_WAITS = { perKey: WAITS_PER_KEY, perProject: WAITS_PER_PROJECT, what: 'waits' };
const SUBSCRIPTIONS = {
  perKey: SUBSCRIPTIONS_PER_KEY,
  perProject: SUBSCRIPTIONS_PER_PROJECT,
  what: 'subscriptions',
};
/** An event may end a wait at any moment, so nobody is kept away for longer than this. */
const RETRY_MAX_SECONDS = 5;

interface OpenWait {
  readonly keyId: string;
  /** When it is given back at the latest, as `performance.now` counts; null when nobody knows. */
  readonly endsAt: number | null;
}

/** So many places, and so many of them for one key. */
class WaitQuota {
  readonly #taken = new Set<OpenWait>();
  readonly #limits: WaitLimits;

  constructor(limits: WaitLimits) {
    this.#limits = limits;
  }

  /** Returns what gives the place back. TOO_MANY_WAITS. */
  take(place: OpenWait): () => void {
    const all = [...this.#taken];
    const ofKey = all.filter(({ keyId }) => keyId === place.keyId);
    const { perKey, perProject } = this.#limits;
    if (ofKey.length >= perKey) throw this.#full('key', ofKey, perKey);
    if (all.length >= perProject) throw this.#full('project', all, perProject);
    this.#taken.add(place);
    return () => void this.#taken.delete(place);
  }

  #full(kind: 'key' | 'project', taken: readonly OpenWait[], limit: number): ServiceError {
    const { what } = this.#limits;
    const used = taken.length;
    const seconds = secondsToFirstEnd(taken);
    const repeat = seconds === null ? '' : `, or repeat in ${pluralize(seconds, 'second')}`;
    return new ServiceError('TOO_MANY_WAITS', {
      hint: `${used} of ${limit} ${what} of this ${kind} are open: let one end first${repeat}.`,
      details: { kind, limit, used, ...(seconds !== null && { retry_after: seconds }) },
    });
  }
}

function secondsToFirstEnd(taken: readonly OpenWait[]): number | null {
  const ends = taken.flatMap(({ endsAt }) => (endsAt === null ? [] : [endsAt]));
  if (ends.length === 0) return null;
  const seconds = Math.ceil((Math.min(...ends) - performance.now()) / 1000);
  return Math.min(Math.max(1, seconds), RETRY_MAX_SECONDS);
}

/** Those who wait in one project, or follow what happens in it: how many there are, and whom a change wakes. */
export class Waits {
  readonly #waiters = new Set<Waiter>();
  readonly #followers = new Map<Follower, string>();
  /** Of counted waits, and of followers. */
  readonly #waitQuota = new WaitQuota(COUNTED_WAITS);
  readonly #subscriptionQuota = new WaitQuota(SUBSCRIPTIONS);
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
    const leave = this.#subscriptionQuota.take({ keyId, endsAt: null });
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
    const endsAt = performance.now() + wait.timeoutMs;
    const leave = this.#enter(waiter, wait.counted ? endsAt : null);
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

  /** `countedUntil`: when a wait that takes a place gives it back; null for one that takes none. */
  #enter(waiter: Waiter, countedUntil: number | null): () => void {
    const { keyId } = waiter;
    const release =
      countedUntil === null ? undefined : this.#waitQuota.take({ keyId, endsAt: countedUntil });
    this.#waiters.add(waiter);
    this.#onEnter?.();
    return () => {
      this.#waiters.delete(waiter);
      release?.();
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
