/** This share of the pool stays free for calls, however many databases are pinned. */
const SHARE_FOR_CALLS = 1 / 8;

/** A database that the pool opens and closes. */
export interface PooledDatabase {
  /** Its files are open: not about to be opened, nor about to be closed. */
  readonly isOpen: boolean;
  /** Calls are under way, which are soon over. */
  readonly isInUse: boolean;
  /** Somebody waits on it for longer: its files stay open. */
  readonly isPinned: boolean;
  /** When its last call ended, in milliseconds of a steady clock. */
  readonly usedAt: number;
  /** Closes the files once the calls under way are over, then says so by `left`. Never rejects. */
  evict(): Promise<void>;
}

export interface DatabasePoolOptions {
  /** How many may be open at a time. Those that are pinned come on top when they are more. */
  readonly max: number;
  /** What was not used for so long is closed; null keeps it open, and no timer runs. */
  readonly idleMs: number | null;
}

/**
 * Limits how many databases are open. When the pool is full, the next one waits until the least recently used one is evicted:
 * first an idle one, then one whose calls are nearly over. They enter in the order in which they asked.
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

  /** How many are open, about to be, or not closed yet. */
  get size(): number {
    return this.#present.size;
  }

  /** Resolves when its files may be opened. It leaves by `left`, also when they could not be. */
  enter(database: PooledDatabase): Promise<void> {
    return new Promise((admit) => {
      this.#queue.push({ database, admit });
      this.settle();
    });
  }

  /** Its files are closed. */
  release(database: PooledDatabase): void {
    this.#present.delete(database);
    this.#evicting.delete(database);
    this.settle();
  }

  /** To be called when a database has opened, or its last call is over. */
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

  /** No timer runs any more; whoever is open stays until it leaves by itself. */
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

  /** Looks again when the next one may have been idle for long enough. */
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
