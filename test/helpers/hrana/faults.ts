import { once, EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

/** What happens to a request before its work: nothing, a cut connection, or an answer with this status. */
type Fate = 'work' | 'cut' | 404 | 502 | 503;

/** The methods of `Faults` as JSON, for a server in a separate process. */
export interface FaultChange {
  readonly latencyMs?: number;
  readonly failNext?: number;
  readonly failStatus?: 404 | 502 | 503;
  readonly cutRequests?: number;
  readonly dropAnswers?: { readonly kind: 'commit' | 'any'; readonly times: number };
  readonly paused?: boolean;
}

/** What goes wrong with the requests to come. */
export class Faults {
  /** Added to each request, before its work. */
  latencyMs = 0;
  readonly #changes = new EventEmitter();
  #isPaused = false;
  #failures: { times: number; status: 404 | 502 | 503 } = { times: 0, status: 503 };
  #cuts = 0;
  readonly #drops = { commit: 0, any: 0 };

  /** The next requests are answered with this status, and nothing is done. */
  failNext(times: number, status: 404 | 502 | 503 = 503): void {
    this.#failures = { times, status };
  }

  /** The line is cut when the next requests have come, and nothing is done. */
  cutRequests(times: number): void {
    this.#cuts = times;
  }

  /** The next requests, or those that commit something, are done; then the line is cut without an answer. */
  dropAnswers(kind: 'commit' | 'any', times: number): void {
    this.#drops[kind] = times;
  }

  /** Requests are taken and held until `resume`. */
  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#changes.emit('resumed');
  }

  change(wanted: FaultChange): void {
    const { latencyMs, failNext, failStatus, cutRequests, dropAnswers, paused } = wanted;
    if (latencyMs !== undefined) this.latencyMs = latencyMs;
    if (failNext !== undefined) this.failNext(failNext, failStatus);
    if (cutRequests !== undefined) this.cutRequests(cutRequests);
    if (dropAnswers) this.dropAnswers(dropAnswers.kind, dropAnswers.times);
    if (paused === true) this.pause();
    if (paused === false) this.resume();
  }

  async fate(): Promise<Fate> {
    while (this.#isPaused) await once(this.#changes, 'resumed');
    if (this.latencyMs > 0) await sleep(this.latencyMs);
    if (this.#cuts > 0) {
      this.#cuts -= 1;
      return 'cut';
    }
    if (this.#failures.times === 0) return 'work';
    this.#failures.times -= 1;
    return this.#failures.status;
  }

  /** Whether the answer gets lost after the work is done. */
  drops(hasCommitted: boolean): boolean {
    const kind = hasCommitted && this.#drops.commit > 0 ? 'commit' : 'any';
    if (this.#drops[kind] === 0) return false;
    this.#drops[kind] -= 1;
    return true;
  }
}
