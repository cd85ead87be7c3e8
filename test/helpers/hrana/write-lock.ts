import { SqlError } from './protocol.ts';

export interface WriteLockOptions {
  /** A waiting stream gets SQLITE_BUSY after this time. */
  readonly lockWaitMs: number;
  /** A transaction that holds the lock for longer while another waits is rolled back. */
  readonly transactionMaxMs: number;
}

export interface LockHolder {
  /** Ends the transaction, and gives the lock back. */
  forceRollback(): void;
}

interface Waiter {
  readonly holder: LockHolder;
  readonly resolve: () => void;
}

/**
 * SQLite's lock of the writer, taken before SQLite is asked for it: its own wait would hold the event loop. First come,
 * first served.
 */
export class WriteLock {
  readonly #options: WriteLockOptions;
  readonly #waiters: Waiter[] = [];
  #holder: LockHolder | null = null;
  #heldSince = 0;
  #stealing: NodeJS.Timeout | undefined;

  constructor(options: WriteLockOptions) {
    this.#options = options;
  }

  isHeldBy(holder: LockHolder): boolean {
    return this.#holder === holder;
  }

  /** SQLITE_BUSY when it takes too long. */
  async acquire(holder: LockHolder): Promise<void> {
    if (this.#holder === holder) return;
    if (!this.#holder) return this.#hold(holder);
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiters.splice(this.#waiters.indexOf(waiter), 1);
        reject(new SqlError('SQLITE_BUSY', 'SQLite error: database is locked'));
      }, this.#options.lockWaitMs);
      const waiter = {
        holder,
        resolve: () => {
          clearTimeout(timer);
          resolve();
        },
      };
      this.#waiters.push(waiter);
      this.#steal();
    });
  }

  release(holder: LockHolder): void {
    if (this.#holder !== holder) return;
    clearTimeout(this.#stealing);
    this.#stealing = undefined;
    this.#holder = null;
    const next = this.#waiters.shift();
    if (!next) return;
    this.#hold(next.holder);
    if (this.#waiters.length > 0) this.#steal();
    next.resolve();
  }

  #hold(holder: LockHolder): void {
    this.#holder = holder;
    this.#heldSince = performance.now();
  }

  #steal(): void {
    if (this.#stealing) return;
    const holder = this.#holder;
    const leftMs = this.#heldSince + this.#options.transactionMaxMs - performance.now();
    this.#stealing = setTimeout(() => {
      this.#stealing = undefined;
      if (this.#waiters.length > 0) holder?.forceRollback();
    }, leftMs);
  }
}
