import { TooManyRequests } from './protocol.ts';

/** A request that waits for a connection is refused after this time (`DB_CREATE_TIMEOUT`, `libsql-server/src/lib.rs`). */
const WAIT_MS = 1000;

interface Waiter {
  readonly resolve: () => void;
  readonly reject: (error: TooManyRequests) => void;
  readonly timer: NodeJS.Timeout;
}

/**
 * How many connections there may be at a time, of all namespaces together: sqld makes one semaphore for the whole server
 * (`make_namespaces`' `BaseNamespaceConfig` in `libsql-server/src/lib.rs`, commit f8fb14f). Each stream holds a
 * connection until it is closed or has expired.
 */
export class ConnectionSlots {
  readonly #queue: Waiter[] = [];
  #free: number;

  constructor(max: number) {
    this.#free = max;
  }

  /**
   * Waits for a free connection, and returns what frees it; TooManyRequests after a second:
   * `MakeThrottledConnection::create` in `libsql-server/src/connection/mod.rs`.
   */
  async take(): Promise<() => void> {
    if (this.#free > 0) this.#free -= 1;
    else await this.#wait();
    return () => this.#give();
  }

  /** Refuses all that wait. */
  close(): void {
    for (const { timer, reject } of this.#queue.splice(0)) {
      clearTimeout(timer);
      reject(timedOut());
    }
  }

  async #wait(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#queue.splice(this.#queue.indexOf(waiter), 1);
        reject(timedOut());
      }, WAIT_MS);
      const waiter: Waiter = { resolve, reject, timer };
      this.#queue.push(waiter);
    });
  }

  #give(): void {
    const next = this.#queue.shift();
    if (!next) {
      this.#free += 1;
      return;
    }
    clearTimeout(next.timer);
    next.resolve();
  }
}

function timedOut(): TooManyRequests {
  return new TooManyRequests('Timed out while opening database connection');
}
