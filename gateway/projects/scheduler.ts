import type { Clock } from '../../shared/lib/clock.ts';

/** Longer sleeps are split into steps of this length, so that a changed system clock is noticed. */
const STEP_MAX_MS = 6 * 3_600_000;

/** At most this many overtaken entries are kept, plus one per project. */
const OVERTAKEN_MAX = 64;

interface Entry {
  readonly projectId: string;
  readonly dueAt: number;
}

/**
 * One timer for all projects. Each has at most one next due time, kept in a heap, so an idle project costs next to
 * nothing. An overtaken entry stays in the heap until it comes up or there are too many.
 */
export class Scheduler {
  readonly #clock: Clock;
  readonly #run: (projectId: string) => void;
  readonly #due = new Map<string, number>();
  readonly #heap: Entry[] = [];
  #timer: NodeJS.Timeout | null = null;
  #closed = false;

  constructor(clock: Clock, run: (projectId: string) => void) {
    this.#clock = clock;
    this.#run = run;
  }

  /** Schedules the project at this time, unless it's already due earlier. */
  atLatest(projectId: string, dueAt: number): void {
    const known = this.#due.get(projectId);
    if (this.#closed || (known !== undefined && known <= dueAt)) return;
    this.#due.set(projectId, dueAt);
    push(this.#heap, { projectId, dueAt });
    if (this.#heap.length > 2 * this.#due.size + OVERTAKEN_MAX) this.#rebuild();
    this.#arm();
  }

  /** The number of heap entries, including overtaken ones. */
  get size(): number {
    return this.#heap.length;
  }

  close(): void {
    this.#closed = true;
    if (this.#timer) clearTimeout(this.#timer);
  }

  #rebuild(): void {
    this.#heap.length = 0;
    for (const [projectId, dueAt] of this.#due) push(this.#heap, { projectId, dueAt });
  }

  #arm(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    const next = this.#heap[0];
    if (!next || this.#closed) return;
    const inMs = Math.min(Math.max(0, next.dueAt - this.#clock.now()), STEP_MAX_MS);
    this.#timer = setTimeout(() => this.#fire(), inMs);
  }

  #fire(): void {
    const now = this.#clock.now();
    while (this.#heap[0] && this.#heap[0].dueAt <= now) {
      const entry = pop(this.#heap);
      if (entry === undefined || this.#due.get(entry.projectId) !== entry.dueAt) continue;
      this.#due.delete(entry.projectId);
      this.#run(entry.projectId);
    }
    this.#arm();
  }
}

function push(heap: Entry[], entry: Entry): void {
  heap.push(entry);
  let index = heap.length - 1;
  while (index > 0) {
    const parent = (index - 1) >> 1;
    if (!swapIfLater(heap, parent, index)) return;
    index = parent;
  }
}

function pop(heap: Entry[]): Entry | undefined {
  const first = heap[0];
  const last = heap.pop();
  if (!last || heap.length === 0) return first;
  heap[0] = last;
  let index = 0;
  for (;;) {
    const left = 2 * index + 1;
    const right = left + 1;
    const smaller = dueOf(heap, right) < dueOf(heap, left) ? right : left;
    if (!swapIfLater(heap, index, smaller)) return first;
    index = smaller;
  }
}

function dueOf(heap: readonly Entry[], index: number): number {
  return heap[index]?.dueAt ?? Number.POSITIVE_INFINITY;
}

function swapIfLater(heap: Entry[], upper: number, lower: number): boolean {
  const above = heap[upper];
  const below = heap[lower];
  if (!above || !below || above.dueAt <= below.dueAt) return false;
  heap[upper] = below;
  heap[lower] = above;
  return true;
}
