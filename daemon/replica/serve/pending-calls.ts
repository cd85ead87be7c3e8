import { unavailable } from '../../../shared/lib/errors.ts';

/** Calls that wait at the gateway. Each ends when its caller leaves or the daemon stops. */
export class PendingCalls {
  readonly #running = new Set<AbortController>();
  #ended = false;

  /** Runs a call with a signal that `end` aborts too. */
  async run<T>(caller: AbortSignal, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController();
    const onGone = (): void => controller.abort(caller.reason);
    if (caller.aborted || this.#ended) onGone();
    caller.addEventListener('abort', onGone, { once: true });
    this.#running.add(controller);
    try {
      return await call(controller.signal);
    } catch (error) {
      throw this.#ended && !caller.aborted ? unavailable(1) : error;
    } finally {
      caller.removeEventListener('abort', onGone);
      this.#running.delete(controller);
    }
  }

  /** Ends all running and later calls with UNAVAILABLE. */
  end(): void {
    this.#ended = true;
    for (const controller of this.#running) controller.abort();
  }
}
