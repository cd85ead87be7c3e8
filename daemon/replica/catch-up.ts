import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { PositionWaiters } from './position-waiters.ts';
import { Backoff } from './backoff.ts';
import type { Link } from './link.ts';
import type { LocalCopy } from './local-copy.ts';
import type { CopyPosition } from './replica-reader.ts';
import { SyncError } from './sync-failure.ts';

/** Between attempts while the log is in use, the network does not do, or nothing came. */
const PAUSES = { firstMs: 25, maxMs: 2000 };
/** A client that crashes so often without having moved the copy on is not to blame: the copy is. */
const CRASHES_MAX = 5;
/** So often it may be tried again before anybody is told. */
const TROUBLES_MAX = 4;
/** A long synchronization is looked at now and then, to tell how far it is. */
const LOOK_MS = 500;

export interface CatchUpDeps {
  readonly copy: LocalCopy;
  readonly link: Link;
  readonly positionWaiters: PositionWaiters;
  readonly log: Logger;
  /** Told how far the copy is, as it moves on; what it throws ends the loop. */
  readonly onPosition: (position: CopyPosition) => void;
  /** Told what is in the way when it stays there. */
  readonly onTrouble: (message: string) => void;
}

/** Brings a copy up to date, again and again, for as long as it is behind what is known of the gateway. */
export class CatchUp {
  readonly #deps: CatchUpDeps;
  readonly #backoff = new Backoff(PAUSES);
  /** Attempts in a row that failed. */
  #troubles = 0;
  /** Crashes of the client since the copy was as far as this. */
  #crashes = { position: -1, count: 0 };
  #wake: (() => void) | null = null;

  constructor(deps: CatchUpDeps) {
    this.#deps = deps;
  }

  /** There may be something to take over. */
  wake(): void {
    this.#wake?.();
  }

  /** Ends when it is aborted. Rejects with `SyncError` where another attempt is of no use. */
  async run(signal: AbortSignal): Promise<void> {
    const { positionWaiters } = this.#deps;
    signal.addEventListener('abort', () => this.wake(), { once: true });
    while (!signal.aborted) {
      if (positionWaiters.behind === 0) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        this.#wake = null;
        continue;
      }
      const pauseMs = await this.#attempt(signal).catch((error: unknown) => this.#judge(error));
      if (pauseMs > 0) await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Answers how long to wait before the next attempt, in milliseconds. */
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
      // Only the loop itself may fail.
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

/** The client cannot be told to stop: who is aborted leaves it to its work. */
function unlessAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = (): void => resolve();
    signal.addEventListener('abort', leave, { once: true });
    const done = (): void => signal.removeEventListener('abort', leave);
    void work.then(resolve, reject).finally(done);
  });
}
