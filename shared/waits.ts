import type { Change } from './context.ts';
import { ServiceError } from './errors.ts';
import { WAITS_PER_KEY, WAITS_PER_PROJECT } from './limits.ts';

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

/** The waits of one project: how many there are, and whom a change wakes. */
export class Waits {
  readonly #waiters = new Set<Waiter>();
  /** Counted waits, by key and in sum. */
  readonly #byKey = new Map<string, number>();
  #counted = 0;
  #closed = false;

  get size(): number {
    return this.#waiters.size;
  }

  /** Called after the commit that made an event claimable, or ended a request. */
  notify(change: Change): void {
    for (const waiter of this.#waiters) {
      if (!waiter.concerns(change)) continue;
      waiter.stale = true;
      waiter.wake?.('changed');
    }
  }

  /** Called when something changed and it is not known what: everybody looks again. */
  notifyAll(): void {
    for (const waiter of this.#waiters) {
      waiter.stale = true;
      waiter.wake?.('changed');
    }
  }

  /** Ends the waits of a key that was revoked, with KEY_REVOKED. */
  endOf(keyId: string): void {
    for (const waiter of this.#waiters) {
      if (waiter.keyId !== keyId) continue;
      waiter.revoked = true;
      waiter.wake?.('revoked');
    }
  }

  /** Ends every wait as at its timeout. */
  close(): void {
    this.#closed = true;
    for (const waiter of this.#waiters) waiter.wake?.('closed');
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
    const release = counted ? this.#count(waiter.keyId) : (): void => undefined;
    this.#waiters.add(waiter);
    return () => {
      this.#waiters.delete(waiter);
      release();
    };
  }

  #count(keyId: string): () => void {
    const ofKey = this.#byKey.get(keyId) ?? 0;
    if (ofKey >= WAITS_PER_KEY || this.#counted >= WAITS_PER_PROJECT) {
      throw new ServiceError('TOO_MANY_WAITS');
    }
    this.#byKey.set(keyId, ofKey + 1);
    this.#counted += 1;
    return () => {
      this.#counted -= 1;
      const left = (this.#byKey.get(keyId) ?? 1) - 1;
      if (left > 0) this.#byKey.set(keyId, left);
      else this.#byKey.delete(keyId);
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
