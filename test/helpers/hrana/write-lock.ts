import { SqlError } from './protocol.ts';

export interface WriteLockOptions {
  /** A transaction that holds the lock for longer while another waits is rolled back. */
  readonly transactionMaxMs: number;
}

export interface LockHolder {
  /** Ends the transaction, and gives the lock back. */
  forceRollback(): void;
}

interface Waiter {
  readonly holder: LockHolder;
  readonly hasSnapshot: boolean;
  readonly resolve: () => void;
  readonly reject: (error: SqlError) => void;
}

/** How long a connection keeps its turn after SQLite has refused it the lock. */
const REFUSED_MS = 15;

/**
 * SQLite's lock of the writer, taken before SQLite is asked for it: its own wait would hold the event loop. The rules are
 * sqld's: `libsql-server/src/connection/connection_manager.rs`, commit f8fb14f.
 */
export class WriteLock {
  readonly #options: WriteLockOptions;
  readonly #waiters: Waiter[] = [];
  #holder: LockHolder | null = null;
  #heldSince = 0;
  #stealing: NodeJS.Timeout | undefined;
  #refused: NodeJS.Timeout | undefined;

  constructor(options: WriteLockOptions) {
    this.#options = options;
  }

  isHeldBy(holder: LockHolder): boolean {
    return this.#holder === holder;
  }

  /**
   * First come, first served, however long it takes: the queue in `ManagedConnectionWalWrapper::acquire` has no limit of
   * its own. Rejects as `interrupt` says.
   */
  async acquire(holder: LockHolder, hasSnapshot: boolean): Promise<void> {
    if (this.#holder === holder) return this.#keep();
    if (!this.#holder) return this.#hold(holder);
    await new Promise<void>((resolve, reject) => {
      this.#waiters.push({ holder, hasSnapshot, resolve, reject });
      this.#steal();
    });
  }

  /** The transaction is over. A connection that was refused keeps its turn all the same, as in `end_read_txn`. */
  release(holder: LockHolder): void {
    if (this.#holder === holder && !this.#refused) this.#next();
  }

  /** The connection is closed: `ManagedConnectionWalWrapper::close` gives up its turn whatever its state. */
  leave(holder: LockHolder): void {
    if (this.#holder === holder) this.#next();
  }

  /**
   * SQLite has answered SQLITE_BUSY to the holder: `begin_write_txn` leaves it `SlotState::Failure`, and `acquire` lets
   * the next one pass 15 ms after its turn began (`acquire_timeout_duration`).
   */
  refuse(holder: LockHolder): void {
    if (this.#holder !== holder) return;
    clearTimeout(this.#refused);
    const leftMs = Math.max(0, this.#heldSince + REFUSED_MS - performance.now());
    this.#refused = setTimeout(() => this.#next(), leftMs);
  }

  /**
   * Before a checkpoint that restarts the log, `checkpoint` wakes the whole queue, and `acquire` answers 517
   * (SQLITE_BUSY_SNAPSHOT). SQLite's busy handler sends those without a snapshot back to the queue; the others fail.
   */
  interrupt(): void {
    for (const waiter of this.#waiters.filter(({ hasSnapshot }) => hasSnapshot)) {
      this.#waiters.splice(this.#waiters.indexOf(waiter), 1);
      waiter.reject(new SqlError('SQLITE_BUSY', 'SQLite error: database is locked'));
    }
  }

  #hold(holder: LockHolder): void {
    this.#holder = holder;
    this.#heldSince = performance.now();
  }

  #keep(): void {
    clearTimeout(this.#refused);
    this.#refused = undefined;
  }

  #next(): void {
    this.#keep();
    clearTimeout(this.#stealing);
    this.#stealing = undefined;
    this.#holder = null;
    const next = this.#waiters.shift();
    if (!next) return;
    this.#hold(next.holder);
    if (this.#waiters.length > 0) this.#steal();
    next.resolve();
  }

  /** In `acquire`, a waiter rolls a transaction back that is older than `txn_timeout_duration`. */
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
