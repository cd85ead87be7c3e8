import type { Change } from '../../../shared/kernel/context.ts';
import type { Waits } from '../../../shared/kernel/waits.ts';

/** A caller that waits for the replica to reach a position. */
interface PositionWaiter {
  readonly position: number;
  readonly arrived: () => void;
}

interface Announcement {
  readonly position: number;
  readonly changes: readonly Change[];
  /** True if there are other, unknown changes too. */
  readonly all: boolean;
}

/** Up to this many changes, we remember each one; beyond that, only the range of their positions. */
const ANNOUNCED_MAX = 1000;

/** Remembers announced changes until the replica has them, then wakes the waits and reads that need them. */
export class PositionWaiters {
  readonly #waits: Waits;
  #announced: Announcement[] = [];
  #announcedCount = 0;
  /** Between these positions (inclusive), anything may have changed. */
  #blurred: { from: number; readonly to: number } | null = null;
  readonly #awaited = new Set<PositionWaiter>();
  #position: number | null = null;
  #target = 0;

  constructor(waits: Waits) {
    this.#waits = waits;
  }

  /** The replica's newest commit; null while there's no replica. */
  get position(): number | null {
    return this.#position;
  }

  /** The gateway's newest known commit. */
  get target(): number {
    return this.#target;
  }

  get behind(): number {
    return this.#position === null ? 0 : Math.max(0, this.#target - this.#position);
  }

  /** The gateway has reached this position. */
  setTarget(position: number): void {
    this.#target = Math.max(this.#target, position);
  }

  /** The replica will have these changes once it reaches this position; `all` means there are unknown ones too. */
  announce(announced: Announcement): void {
    this.setTarget(announced.position);
    if (!announced.all && announced.changes.length === 0) return;
    this.#announced.push(announced);
    this.#announcedCount += weightOf(announced);
    if (this.#announcedCount > ANNOUNCED_MAX) this.#blur();
  }

  /** The gateway has reached this position. If nobody announced it, anything may have changed. */
  learn(position: number): void {
    if (position > this.#target) this.announce({ position, changes: [], all: true });
  }

  /** The history is a different one, so earlier positions mean nothing. */
  restart(target: number): void {
    this.#target = target;
    this.#position = null;
    this.#blurred = null;
    this.#keep([{ position: target, changes: [], all: true }]);
  }

  has(position: number): void {
    this.#position = position;
    for (const one of this.#awaited) if (one.position <= position) one.arrived();
    const there = this.#announced.filter((one) => one.position <= position);
    if (there.length > 0) this.#keep(this.#announced.filter((one) => one.position > position));
    const isBlurred = this.#passBlurred(position);
    if (isBlurred || there.some(({ all }) => all)) this.#waits.notifyAll();
    else for (const change of there.flatMap(({ changes }) => changes)) this.#waits.notify(change);
  }

  /** True as soon as the replica reaches this position; false after `withinMs`. */
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
      const one: PositionWaiter = { position, arrived: () => settle(true) };
      this.#awaited.add(one);
    });
  }

  #keep(announced: Announcement[]): void {
    this.#announced = announced;
    this.#announcedCount = announced.reduce((count, one) => count + weightOf(one), 0);
  }

  #blur(): void {
    const positions = this.#announced.map((one) => one.position);
    const { from, to } = this.#blurred ?? { from: Infinity, to: 0 };
    this.#blurred = { from: Math.min(from, ...positions), to: Math.max(to, ...positions) };
    this.#keep([]);
  }

  /** True if the replica now has some of the blurred range. */
  #passBlurred(position: number): boolean {
    const blurred = this.#blurred;
    if (!blurred || position < blurred.from) return false;
    if (position >= blurred.to) this.#blurred = null;
    else blurred.from = position + 1;
    return true;
  }
}

function weightOf({ changes }: Announcement): number {
  return 1 + changes.length;
}
