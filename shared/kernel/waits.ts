import type { Change } from './context.ts';
import { Admission } from '../admission/admission.ts';
import { ServiceError, unavailable } from '../lib/errors.ts';
import type { Follower } from './executor.ts';

type WakeReason = 'changed' | 'timeout' | 'closed' | 'revoked' | 'aborted';

interface Waiter {
  readonly keyId: string;
  readonly concerns: (change: Change) => boolean;
  /** When a counted wait ends at the latest, by `performance.now`; null if it isn't counted. */
  readonly endsAt: number | null;
  /** Something changed during the waiter's check, so it must check again before it sleeps. */
  stale: boolean;
  /** Its key was revoked, so it gets nothing more. */
  revoked: boolean;
  wake: ((how: WakeReason) => void) | null;
}

/** The longest time a refused caller is told to wait, because an event may end a wait at any moment. */
const RETRY_MAX_SECONDS = 5;

interface WaitsOptions {
  /** Limits how many are open. */
  readonly admission?: Pick<Admission, 'asleep' | 'hold'>;
  readonly projectId?: string;
  /** Called when a wait begins. */
  readonly onEnter?: () => void;
}

/** The waits and followers of one project: counts them and wakes those that a change concerns. */
export class Waits {
  readonly #waiters = new Set<Waiter>();
  readonly #followers = new Map<Follower, string>();
  readonly #admission: Pick<Admission, 'asleep' | 'hold'>;
  readonly #projectId: string;
  readonly #onEnter: (() => void) | undefined;
  #closed = false;

  constructor({ admission = Admission.local(), projectId = '', onEnter }: WaitsOptions = {}) {
    this.#admission = admission;
    this.#projectId = projectId;
    this.#onEnter = onEnter;
  }

  get size(): number {
    return this.#waiters.size + this.#followers.size;
  }

  /** Call after a commit that made an event claimable, ended a request, or changed what followers see. */
  notify(change: Change): void {
    for (const follower of this.#followers.keys()) follower.changed(change);
    for (const waiter of this.#waiters) {
      if (!waiter.concerns(change)) continue;
      waiter.stale = true;
      waiter.wake?.('changed');
    }
  }

  /** Call if something changed but it's unknown what: every waiter checks again. */
  notifyAll(): void {
    for (const follower of this.#followers.keys()) follower.changed(null);
    for (const waiter of this.#waiters) {
      waiter.stale = true;
      waiter.wake?.('changed');
    }
  }

  /** Ends the waits of a revoked key with KEY_REVOKED, and tells its followers. */
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

  /** Ends all waits as if they had timed out, and all followers. */
  close(): void {
    this.#closed = true;
    for (const follower of this.#followers.keys()) follower.ended('UNAVAILABLE');
    for (const waiter of this.#waiters) waiter.wake?.('closed');
  }

  /** Reports every change until the returned function is called. Throws TOO_MANY_WAITS, or UNAVAILABLE if closed. */
  follow(keyId: string, follower: Follower): () => void {
    if (this.#closed) throw unavailable(1);
    const leave = this.#admission.hold('subscriptions', { key: keyId, project: this.#projectId });
    this.#followers.set(follower, keyId);
    this.#onEnter?.();
    return () => {
      this.#followers.delete(follower);
      leave();
    };
  }

  /**
   * Checks now and after every change that concerns the waiter, until it finds something or `timeoutMs` have passed
   * (null). The waiter is registered before the first check, so it misses nothing.
   */
  async wait<T>(wait: {
    readonly keyId: string;
    /** The request that waits, if one does. */
    readonly requestId?: string;
    /** Whether the wait counts towards the limits per key and project. */
    readonly counted: boolean;
    readonly concerns: (change: Change) => boolean;
    readonly check: () => Promise<T | null>;
    readonly timeoutMs: number;
    readonly signal: AbortSignal;
  }): Promise<T | null> {
    const { keyId, concerns } = wait;
    const endsAt = performance.now() + wait.timeoutMs;
    const waiter: Waiter = {
      keyId,
      concerns,
      endsAt: wait.counted ? endsAt : null,
      stale: false,
      revoked: false,
      wake: null,
    };
    const leave = this.#enter(waiter);
    try {
      for (;;) {
        waiter.stale = false;
        const found = await wait.check();
        refuseRevoked(waiter);
        if (found !== null || this.#closed) return found;
        // Compared in every round, because other claims may keep it checking, and it must still end.
        if (performance.now() >= endsAt) return null;
        if (waiter.stale) continue;
        if (wait.requestId !== undefined) this.#admission.asleep(wait.requestId);
        const how = await sleep(waiter, endsAt, wait.signal);
        if (how === 'aborted') throw new Error('The caller has gone.');
        refuseRevoked(waiter);
        if (how !== 'changed') return null;
      }
    } finally {
      leave();
    }
  }

  #enter(waiter: Waiter): () => void {
    const { keyId: key, endsAt } = waiter;
    const holder = { key, project: this.#projectId };
    const release =
      endsAt === null
        ? undefined
        : this.#admission.hold('waits', holder, (of) =>
            this.#secondsToFirstEnd(of === 'key' ? key : null),
          );
    this.#waiters.add(waiter);
    this.#onEnter?.();
    return () => {
      this.#waiters.delete(waiter);
      release?.();
    };
  }

  /** When a counted wait ends: one of this key, or of any. */
  #secondsToFirstEnd(keyId: string | null): number | null {
    const ends = [...this.#waiters].flatMap((waiter) =>
      waiter.endsAt === null || (keyId !== null && waiter.keyId !== keyId) ? [] : [waiter.endsAt],
    );
    if (ends.length === 0) return null;
    const seconds = Math.ceil((Math.min(...ends) - performance.now()) / 1000);
    return Math.min(Math.max(1, seconds), RETRY_MAX_SECONDS);
  }
}

function refuseRevoked(waiter: Waiter): void {
  if (waiter.revoked) throw new ServiceError('KEY_REVOKED');
}

function sleep(waiter: Waiter, endsAt: number, signal: AbortSignal): Promise<WakeReason> {
  return new Promise((resolve) => {
    const aborted = (): void => done('aborted');
    const timer = setTimeout(() => done('timeout'), Math.max(0, endsAt - performance.now()));
    const done = (how: WakeReason): void => {
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
