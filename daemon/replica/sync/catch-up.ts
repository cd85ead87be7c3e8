import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { PositionWaiters } from '../serve/position-waiters.ts';
import { Backoff } from './backoff.ts';
import type { Link } from './link.ts';
import type { LocalCopy } from './local-copy.ts';
import type { CopyPosition } from '../serve/replica-reader.ts';
import { Rest } from '../serve/rest.ts';
import { SyncError } from './sync-failure.ts';

/** Pauses between attempts while a reader blocks the log, the network fails, or nothing arrives. */
const PAUSES = { firstMs: 25, maxMs: 2000 };
/** After this many crashes without progress, the replica is at fault, not the client. */
const CRASHES_MAX = 5;
/** The number of failures in a row before we report them. */
const TROUBLES_MAX = 4;
/** How often to check the progress of a long sync. */
const LOOK_MS = 500;

export interface CatchUpDeps {
  readonly copy: LocalCopy;
  readonly link: Link;
  readonly positionWaiters: PositionWaiters;
  readonly log: Logger;
  /** Called with the replica's position as it advances; an error from it ends the loop. */
  readonly onPosition: (position: CopyPosition) => void;
  /** Called with the reason when a problem persists. */
  readonly onTrouble: (message: string) => void;
}

/** Syncs a replica whenever it's behind the gateway's known position. */
export class CatchUp {
  readonly #deps: CatchUpDeps;
  readonly #backoff = new Backoff(PAUSES);
  readonly #rest = new Rest();
  /** Failed attempts in a row. */
  #troubles = 0;
  /** Crashes of the client at this position of the replica. */
  #crashes = { position: -1, count: 0 };
  #wake: (() => void) | null = null;

  constructor(deps: CatchUpDeps) {
    this.#deps = deps;
  }

  /** Call it when there may be something to sync. */
  wake(): void {
    this.#wake?.();
  }

  /** Runs until aborted. Rejects with `SyncError` if another attempt is pointless. */
  async run(signal: AbortSignal): Promise<void> {
    const { positionWaiters } = this.#deps;
    signal.addEventListener('abort', () => this.wake(), { once: true });
    let wasDue = false;
    while (!signal.aborted) {
      if (positionWaiters.behind === 0) {
        wasDue = false;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        this.#wake = null;
        continue;
      }
      const startedAt = performance.now();
      const pauseMs = await this.#attempt(signal).catch((error: unknown) => this.#judge(error));
      const restMs = this.#rest.after(performance.now() - startedAt, wasDue);
      wasDue = true;
      await sleep(Math.max(pauseMs, restMs), undefined, { signal }).catch(() => undefined);
    }
  }

  /** Returns the pause before the next attempt, in milliseconds. */
  async #attempt(signal: AbortSignal): Promise<number> {
    const { copy, link, positionWaiters, onPosition } = this.#deps;
    const before = positionWaiters.position ?? 0;
    await unlessAborted(copy.connect(link), signal);
    if (signal.aborted) return 0;
    await this.#syncAndLook(signal);
    if (signal.aborted) return 0;
    onPosition(await copy.position());
    const hasMoved = (positionWaiters.position ?? 0) > before;
    if (!hasMoved && positionWaiters.behind > 0) return this.#backoff.nextMs();
    this.#backoff.reset();
    this.#troubles = 0;
    return 0;
  }

  async #syncAndLook(signal: AbortSignal): Promise<void> {
    const { copy, onPosition } = this.#deps;
    const look = setInterval(() => {
      // Only the loop itself reports errors.
      copy
        .position()
        .then(onPosition)
        .catch(() => undefined);
    }, LOOK_MS);
    try {
      await unlessAborted(copy.sync(), signal);
    } finally {
      clearInterval(look);
    }
  }

  #judge(error: unknown): number {
    if (!(error instanceof SyncError)) throw error;
    switch (error.failure) {
      case 'crashed':
        this.#countCrash(error);
        return this.#again(error);
      case 'busy':
      case 'ended':
      case 'network':
        return this.#again(error);
      default:
        throw error;
    }
  }

  #countCrash(error: SyncError): void {
    const position = this.#deps.positionWaiters.position ?? 0;
    const hasMoved = position > this.#crashes.position;
    this.#crashes = { position, count: hasMoved ? 1 : this.#crashes.count + 1 };
    if (this.#crashes.count > CRASHES_MAX) throw new SyncError('damaged', error.message);
  }

  #again(error: SyncError): number {
    this.#troubles += 1;
    if (this.#troubles === TROUBLES_MAX) this.#deps.onTrouble(error.message);
    const { failure, message: reason } = error;
    const level = failure === 'crashed' || failure === 'ended' ? 'warn' : 'debug';
    this.#deps.log[level]({ reason, failure }, 'replica: syncing the replica again');
    return this.#backoff.nextMs();
  }
}

/** The client has no way to stop: after an abort, this leaves it running and returns. */
function unlessAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = (): void => resolve();
    signal.addEventListener('abort', leave, { once: true });
    const done = (): void => signal.removeEventListener('abort', leave);
    void work.then(resolve, reject).finally(done);
  });
}
