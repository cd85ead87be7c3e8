import { setTimeout as sleep } from 'node:timers/promises';
import { Backoff } from './backoff.ts';
import type { BlockReason } from '../block-reason.ts';
import type { ReplicaTiming } from './timing.ts';

/** A connection that lasted this long counts as a success; the second value is for a replica. */
const STEADY_MS = 5000;
const STEADY_COPY_MS = 600_000;

/** How long to wait before the next attempt to follow the gateway. */
export class Pauses {
  readonly #timing: ReplicaTiming;
  readonly #connect: Backoff;
  readonly #repair: Backoff;
  #end: (() => void) | null = null;

  constructor(timing: ReplicaTiming) {
    this.#timing = timing;
    this.#connect = new Backoff(timing.connect);
    this.#repair = new Backoff(timing.repair);
  }

  /** Waits before the next attempt; `endNow` or an abort ends it early. */
  async wait(remedy: BlockReason['remedy'], signal: AbortSignal): Promise<void> {
    const ended = new AbortController();
    this.#end = remedy === 'connect' ? () => ended.abort() : null;
    const either = AbortSignal.any([signal, ended.signal]);
    await sleep(this.#before(remedy), undefined, { signal: either }).catch(() => undefined);
    this.#end = null;
  }

  /** Ends a wait for a connection: there's a reason to try again now. */
  endNow(): void {
    this.#end?.();
  }

  /** The pause in milliseconds. */
  #before(remedy: BlockReason['remedy']): number {
    switch (remedy) {
      case 'connect':
        return this.#connect.nextMs();
      case 'remove':
      case 'ask':
        return this.#timing.askAgainMs;
      default:
        return this.#repair.nextMs();
    }
  }

  /** Resets the backoff after a long success, so that the next pause is short. */
  forgive(heldMs: number): void {
    if (heldMs > STEADY_MS) this.#connect.reset();
    if (heldMs > STEADY_COPY_MS) this.#repair.reset();
  }
}
