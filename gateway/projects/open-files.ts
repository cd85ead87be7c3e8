/** So much of the places is left for calls, however many are held. */
const PLACES_FOR_CALLS = 1 / 8;

/** Something with files that are open while it is used. */
export interface Occupant {
  /** Its files are open: not about to be opened, nor about to be closed. */
  readonly isOpen: boolean;
  /** Calls are under way, which are soon over. */
  readonly isInUse: boolean;
  /** Somebody waits on it for longer: its files stay open. */
  readonly isHeld: boolean;
  /** When its last call ended, in milliseconds of a steady clock. */
  readonly usedAt: number;
  /** Closes the files once the calls under way are over, then says so by `left`. Never rejects. */
  leave(): Promise<void>;
}

export interface OpenFilesOptions {
  /** How many may be open at a time. Those that are held come on top when they are more. */
  readonly max: number;
  /** What was not used for so long is closed; null keeps it open, and no timer runs. */
  readonly idleMs: number | null;
}

/**
 * Who may have its files open. Whoever comes when all places are taken waits until the least recently used one has left:
 * first of those that nobody uses just now, then of those whose calls are soon over. They get in as they came.
 */
export class OpenFiles {
  readonly #max: number;
  readonly #idleMs: number | null;
  readonly #present = new Set<Occupant>();
  readonly #leaving = new Set<Occupant>();
  readonly #queue: { readonly occupant: Occupant; readonly admit: () => void }[] = [];
  #timer: NodeJS.Timeout | null = null;
  #isClosed = false;

  constructor({ max, idleMs }: OpenFilesOptions) {
    this.#max = max;
    this.#idleMs = idleMs;
  }

  /** How many are open, about to be, or not closed yet. */
  get size(): number {
    return this.#present.size;
  }

  /** Resolves when its files may be opened. It leaves by `left`, also when they could not be. */
  enter(occupant: Occupant): Promise<void> {
    return new Promise((admit) => {
      this.#queue.push({ occupant, admit });
      this.settle();
    });
  }

  /** Its files are closed. */
  left(occupant: Occupant): void {
    this.#present.delete(occupant);
    this.#leaving.delete(occupant);
    this.settle();
  }

  /** To be called when an occupant has opened, or its last call is over. */
  settle(): void {
    while (this.#queue.length > 0 && this.#present.size < this.#max) this.#admitNext();
    if (this.#present.size + this.#queue.length - this.#leaving.size > this.#max) this.#makeRoom();
  }

  #makeRoom(): void {
    const staying = [...this.#present].filter((one) => !this.#leaving.has(one));
    const held = staying.filter(({ isHeld }) => isHeld).length;
    const places = Math.max(this.#max - held, Math.ceil(this.#max * PLACES_FOR_CALLS));
    while (this.#queue.length > 0 && this.#present.size - held < places) this.#admitNext();
    let surplus = staying.length - held + this.#queue.length - places;
    const mayInterrupt = this.#queue.length > 0;
    for (const one of staying.toSorted(byUse)) {
      if (surplus <= 0) return;
      if (!one.isOpen || one.isHeld || (one.isInUse && !mayInterrupt)) continue;
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
    this.#present.add(next.occupant);
    this.#watchIdle(this.#idleMs ?? 0);
    next.admit();
  }

  #dismiss(occupant: Occupant): void {
    this.#leaving.add(occupant);
    void occupant.leave();
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
      if (!one.isOpen || one.isInUse || one.isHeld) continue;
      const leftMs = one.usedAt + idleMs - now;
      if (leftMs <= 0) this.#dismiss(one);
      else nextMs = Math.min(nextMs, Math.ceil(leftMs));
    }
    if (this.#present.size > this.#leaving.size) this.#watchIdle(nextMs);
  }
}

function byUse(one: Occupant, other: Occupant): number {
  if (one.isInUse !== other.isInUse) return one.isInUse ? 1 : -1;
  return one.usedAt - other.usedAt;
}
