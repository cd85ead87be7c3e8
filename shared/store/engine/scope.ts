import type { Connection } from './connection.ts';
import type { Row, SqlValue, Tx } from './driver.ts';

/**
 * The embedded driver answers within microtasks. If work hasn't settled by the next turn of the event loop, it awaits
 * something else and would hold the transaction open for everyone else. One watch covers all work of a turn.
 */
export class TurnWatch {
  #fail: ((error: Error) => void) | null = null;
  #turn: NodeJS.Immediate | null = null;

  within<T>(work: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#fail = reject;
      this.#turn ??= setImmediate(() => this.#end());
      work.then(resolve, reject);
    });
  }

  /** Stops watching. */
  done(): void {
    if (this.#turn) clearImmediate(this.#turn);
    this.#turn = null;
    this.#fail = null;
  }

  /** Work that has already settled ignores the rejection. */
  #end(): void {
    this.#turn = null;
    this.#fail?.(awaitedOther());
  }
}

/** Runs the statements of one snapshot or job until it is revoked. */
export class Scope implements Tx {
  readonly #connection: Connection;
  #live = true;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  revoke(): void {
    this.#live = false;
  }

  // eslint-disable-next-line typescript/require-await -- the interface is asynchronous; this driver is not
  async get<T extends Row>(sql: string, params?: readonly SqlValue[]): Promise<T | undefined> {
    return this.#open().get(sql, params) as T | undefined;
  }

  async all<T extends Row>(sql: string, params?: readonly SqlValue[]): Promise<T[]> {
    return this.#open().all(sql, params) as T[];
  }

  async run(sql: string, params?: readonly SqlValue[]): Promise<number> {
    return this.#open().run(sql, params);
  }

  async put(sql: string, params?: readonly SqlValue[]): Promise<void> {
    await this.run(sql, params);
  }

  #open(): Connection {
    if (!this.#live) throw hasEnded();
    return this.#connection;
  }
}

function hasEnded(): Error {
  return new Error('This transaction has ended.');
}

function awaitedOther(): Error {
  return new Error('A transaction awaited something other than its statements.');
}
