import type { Change } from '../../shared/context.ts';
import type { Waits } from '../../shared/waits.ts';

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

/** What the gateway told of, until the copy has it: then waits wake, and reads that need it go on. */
export class Arrivals {
  readonly #waits: Waits;
  #told: Told[] = [];
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
    if (told.all || told.changes.length > 0) this.#told.push(told);
  }

  /** The history is another one: positions that were heard before mean nothing. */
  restart(target: number): void {
    this.#target = target;
    this.#position = null;
    this.#told = [{ position: target, changes: [], all: true }];
  }

  has(position: number): void {
    this.#position = position;
    for (const one of this.#awaited) if (one.position <= position) one.arrived();
    const there = this.#told.filter((one) => one.position <= position);
    if (there.length === 0) return;
    this.#told = this.#told.filter((one) => one.position > position);
    if (there.some(({ all }) => all)) this.#waits.notifyAll();
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
}
