/** How many turns in a row may go to new connections before work continues; fewer if they take long. */
const TURNS_MAX = 64;
const TURNS_MIN = 16;
const LONG_MS = 8;

/**
 * The turns of the event loop. Node takes one new connection in each: if each turn also had some milliseconds of work,
 * a client behind five hundred others would wait for seconds. So work waits while connections come, for a while.
 */
class Loop {
  #waiting: (() => void)[] = [];
  #hasConnected = false;
  /** Turns that went to connections since work was done. */
  #turns = 0;
  /** When the first of them ended. */
  #since = 0;

  connected(): void {
    this.#hasConnected = true;
  }

  next(work: () => void): void {
    if (this.#waiting.push(work) === 1) setImmediate(this.#turn);
  }

  readonly #turn = (): void => {
    const isForConnections = this.#hasConnected && this.#mayWait();
    this.#hasConnected = false;
    this.#turns = isForConnections ? this.#turns + 1 : 0;
    if (isForConnections) {
      setImmediate(this.#turn);
      return;
    }
    for (const work of this.#waiting.splice(0)) work();
  };

  #mayWait(): boolean {
    if (this.#turns === 0) this.#since = performance.now();
    if (this.#turns < TURNS_MIN) return true;
    return this.#turns < TURNS_MAX && performance.now() - this.#since < LONG_MS;
  }
}

/** A process has one event loop. */
const LOOP = new Loop();

/** A server has taken a new connection in this turn. */
export function connected(): void {
  LOOP.connected();
}

/** Does this in the next turn that doesn't go to new connections. */
export function inNextTurn(work: () => void): void {
  LOOP.next(work);
}
