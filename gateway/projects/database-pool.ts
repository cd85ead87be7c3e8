/** This share of the pool stays free for calls, however many databases are pinned. */
const SHARE_FOR_CALLS = 1 / 8;

/** A database that the pool opens and closes. */
export interface PooledDatabase {
  /** Its files are open: neither opening nor closing. */
  readonly isOpen: boolean;
  /** Short calls are under way. */
  readonly isInUse: boolean;
  /** A longer wait needs it, so its files stay open. */
  readonly isPinned: boolean;
  /** When its last call ended, in milliseconds of a monotonic clock. */
  readonly usedAt: number;
  /** Closes the files once the calls under way are over, then calls `release`. Never rejects. */
  evict(): Promise<void>;
}

export interface DatabasePoolOptions {
  /** How many may be open at once. If more than this are pinned, they may exceed it. */
  readonly max: number;
  /** A database unused for this long is closed; null keeps it open and runs no timer. */
  readonly idleMs: number | null;
}

/**
 * Limits how many databases are open. When the pool is full, the next one waits until the least recently used one is
 * evicted: first an idle one, then one whose calls are nearly over. Databases enter in the order they asked.
 */
export class DatabasePool {
  readonly #max: number;
  readonly #idleMs: number | null;
  readonly #present = new Set<PooledDatabase>();
  readonly #evicting = new Set<PooledDatabase>();
  readonly #queue: { readonly database: PooledDatabase; readonly admit: () => void }[] = [];
  #timer: NodeJS.Timeout | null = null;
  #isClosed = false;

  constructor({ max, idleMs }: DatabasePoolOptions) {
    this.#max = max;
    this.#idleMs = idleMs;
  }

  /** The number that are opening, open or not closed yet. */
  get size(): number {
    return this.#present.size;
  }

  /** Resolves when its files may be opened. Call `release` afterwards even if opening fails. */
  enter(database: PooledDatabase): Promise<void> {
    return new Promise((admit) => {
      this.#queue.push({ database, admit });
      this.settle();
    });
  }

  /** Call when its files are closed. */
  release(database: PooledDatabase): void {
    this.#present.delete(database);
    this.#evicting.delete(database);
    this.settle();
  }

  /** Call when a database has opened or its last call is over. */
  settle(): void {
    while (this.#queue.length > 0 && this.#present.size < this.#max) this.#admitNext();
    if (this.#present.size + this.#queue.length - this.#evicting.size > this.#max)
      this.#freeSpace();
  }

  #freeSpace(): void {
    const staying = [...this.#present].filter((one) => !this.#evicting.has(one));
    const pinned = staying.filter(({ isPinned }) => isPinned).length;
    const slots = Math.max(this.#max - pinned, Math.ceil(this.#max * SHARE_FOR_CALLS));
    while (this.#queue.length > 0 && this.#present.size - pinned < slots) this.#admitNext();
    let surplus = staying.length - pinned + this.#queue.length - slots;
    const mayInterrupt = this.#queue.length > 0;
    for (const one of staying.toSorted(byUse)) {
      if (surplus <= 0) return;
      if (!one.isOpen || one.isPinned || (one.isInUse && !mayInterrupt)) continue;
      this.#dismiss(one);
      surplus -= 1;
    }
  }

  /** Stops the timer; open databases stay open until they are released. */
  close(): void {
    this.#isClosed = true;
    if (this.#timer) clearTimeout(this.#timer);
  }

  #admitNext(): void {
    const next = this.#queue.shift();
    if (!next) return;
    this.#present.add(next.database);
    this.#watchIdle(this.#idleMs ?? 0);
    next.admit();
  }

  #dismiss(database: PooledDatabase): void {
    this.#evicting.add(database);
    void database.evict();
  }

  #watchIdle(inMs: number): void {
    if (this.#idleMs === null || this.#timer || this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#dismissIdle();
    }, inMs);
  }

  /** Checks again when the next database may have been idle for long enough. */
  #dismissIdle(): void {
    const idleMs = this.#idleMs ?? 0;
    const now = performance.now();
    let nextMs = idleMs;
    for (const one of this.#present) {
      if (!one.isOpen || one.isInUse || one.isPinned) continue;
      const leftMs = one.usedAt + idleMs - now;
      if (leftMs <= 0) this.#dismiss(one);
      else nextMs = Math.min(nextMs, Math.ceil(leftMs));
    }
    if (this.#present.size > this.#evicting.size) this.#watchIdle(nextMs);
  }
}

function byUse(one: PooledDatabase, other: PooledDatabase): number {
  if (one.isInUse !== other.isInUse) return one.isInUse ? 1 : -1;
  return one.usedAt - other.usedAt;
}
