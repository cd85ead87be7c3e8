import type { Change } from '../../shared/kernel/context.ts';
import type { Waits } from '../../shared/kernel/waits.ts';

/** A position the copy is to reach, and who wants to know. */
interface Awaited {
  readonly position: number;
  readonly arrived: () => void;
}

interface Told {
  readonly position: number;
  readonly changes: readonly Change[];
  /** There are others that are not known. */
  readonly all: boolean;
}

/** So many changes are remembered one by one; of more it is only known between which positions they lie. */
const TOLD_MAX = 1000;

/** What the gateway told of, until the copy has it: then waits wake, and reads that need it go on. */
export class PositionWaiters {
  readonly #waits: Waits;
  #told: Told[] = [];
  #toldCount = 0;
  /** Anything may have changed between these positions, both included. */
  #blurred: { from: number; readonly to: number } | null = null;
  readonly #awaited = new Set<Awaited>();
  #position: number | null = null;
  #target = 0;

  constructor(waits: Waits) {
    this.#waits = waits;
  }

  /** The newest commit of the copy; null while there is no copy. */
  get position(): number | null {
    return this.#position;
  }

  /** The newest commit that is known of. */
  get target(): number {
    return this.#target;
  }

  get behind(): number {
    return this.#position === null ? 0 : Math.max(0, this.#target - this.#position);
  }

  /** The gateway is as far as this. */
  aim(position: number): void {
    this.#target = Math.max(this.#target, position);
  }

  /** These changes will be in the copy as soon as it has this position; with `all`, and others that are not known. */
  tell(told: Told): void {
    this.aim(told.position);
    if (!told.all && told.changes.length === 0) return;
    this.#told.push(told);
    this.#toldCount += weightOf(told);
    if (this.#toldCount > TOLD_MAX) this.#blur();
  }

  /** The history is another one: positions that were heard before mean nothing. */
  restart(target: number): void {
    this.#target = target;
    this.#position = null;
    this.#blurred = null;
    this.#keep([{ position: target, changes: [], all: true }]);
  }

  has(position: number): void {
    this.#position = position;
    for (const one of this.#awaited) if (one.position <= position) one.arrived();
    const there = this.#told.filter((one) => one.position <= position);
    if (there.length > 0) this.#keep(this.#told.filter((one) => one.position > position));
    const isBlurred = this.#passBlurred(position);
    if (isBlurred || there.some(({ all }) => all)) this.#waits.notifyAll();
    else for (const change of there.flatMap(({ changes }) => changes)) this.#waits.notify(change);
  }

  /** True as soon as the copy has this position; false after `withinMs`. */
  reached(position: number, withinMs: number): Promise<boolean> {
    if (this.#position !== null && position <= this.#position) return Promise.resolve(true);
    if (withinMs <= 0) return Promise.resolve(false);
    return new Promise((resolve) => {
      const settle = (yes: boolean): void => {
        clearTimeout(timer);
        this.#awaited.delete(one);
        resolve(yes);
      };
      const timer = setTimeout(() => settle(false), withinMs);
      const one: Awaited = { position, arrived: () => settle(true) };
      this.#awaited.add(one);
    });
  }

  #keep(told: Told[]): void {
    this.#told = told;
    this.#toldCount = told.reduce((count, one) => count + weightOf(one), 0);
  }

  #blur(): void {
    const positions = this.#told.map((one) => one.position);
    const { from, to } = this.#blurred ?? { from: Infinity, to: 0 };
    this.#blurred = { from: Math.min(from, ...positions), to: Math.max(to, ...positions) };
    this.#keep([]);
  }

  /** True when some of what is blurred is in the copy now. */
  #passBlurred(position: number): boolean {
    const blurred = this.#blurred;
    if (!blurred || position < blurred.from) return false;
    if (position >= blurred.to) this.#blurred = null;
    else blurred.from = position + 1;
    return true;
  }
}

function weightOf({ changes }: Told): number {
  return 1 + changes.length;
}
