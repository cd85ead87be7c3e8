import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { rawAnswer } from '../http/answers.ts';
import type { ServiceError } from '../lib/errors.ts';
import { Budget, type BudgetLimits, type Full, type Holder } from './budget.ts';
import { CONNECTION_LIMITS } from './limits.ts';

/** How long the last answer on a connection may take to be read. */
const CLOSING_MS = 1000;

/**
 * The open connections. When an address or the gateway has as many as it may, the oldest one without a proven caller
 * makes room for the next: so nobody who holds connections keeps out those with a key.
 */
export class Connections {
  readonly #budget: Budget;
  readonly #refuse: (full: Full, holder: Holder) => ServiceError;
  readonly #open = new WeakMap<Socket, Connection>();
  /** Connections without a proven caller, oldest first: all, and by address. */
  readonly #strangers = new Set<Connection>();
  readonly #strangersOf = new Map<string, Set<Connection>>();

  /** `refuse` records a refusal and returns its error. */
  constructor(
    refuse: (full: Full, holder: Holder) => ServiceError,
    limits: BudgetLimits = CONNECTION_LIMITS,
  ) {
    this.#budget = new Budget('connection', limits);
    this.#refuse = refuse;
  }

  get count(): number {
    return this.#budget.used;
  }

  /** A connection was opened. `address` is null for a trusted proxy, whose connections count by their requests. */
  opened(socket: Socket, address: string | null): void {
    const connection = new Connection(socket, address, (project) => {
      this.#proved(connection, project);
    });
    this.#open.set(socket, connection);
    socket.once('close', () => this.#leave(connection));
    const full = this.#enter(connection, { address });
    if (full !== null) connection.end(this.#refuse(full, { address }));
  }

  /**
   * A request from this address has begun. Returns its connection, or the refusal if the address has too many requests
   * under way behind a proxy.
   */
  requested(
    socket: Socket,
    address: string,
    response: ServerResponse,
  ): Connection | ServiceError | null {
    const connection = this.#open.get(socket);
    if (!connection) return null;
    connection.responses.add(response);
    response.on('close', () => this.#answered(connection, response));
    if (connection.isDirect) return connection;
    this.#leave(connection);
    const full = this.#enter(connection, { address });
    return full === null ? connection : this.#refuse(full, { address });
  }

  #answered(connection: Connection, response: ServerResponse): void {
    connection.responses.delete(response);
    if (connection.responses.size > 0 || connection.isDirect || connection.holder === null) return;
    this.#leave(connection);
    this.#enter(connection, {});
  }

  /** Counts a connection, and lets an older stranger go if there's no room. */
  #enter(connection: Connection, holder: Holder): Full | null {
    let full = this.#budget.take(holder);
    if (full !== null) {
      const ofAddress = this.#strangersOf.get(holder.address ?? '');
      const [oldest] = full.of === 'address' ? (ofAddress ?? []) : this.#strangers;
      if (!oldest?.holder) return full;
      const why = this.#refuse(full, oldest.holder);
      this.#leave(oldest);
      oldest.end(why);
      full = this.#budget.take(holder);
      if (full !== null) return full;
    }
    connection.holder = holder;
    // A proxy's connection without a request is nobody's.
    if (holder.address != null) this.#addStranger(connection, holder.address);
    return null;
  }

  /** A request on it has shown a valid key, session or token of this project. */
  #proved(connection: Connection, project: string): void {
    const { holder } = connection;
    if (holder === null || holder.project != null) return;
    this.#leave(connection);
    const known = { ...holder, project };
    // A project with too many has the others treated as strangers.
    if (this.#budget.take(known) === null) connection.holder = known;
    else this.#enter(connection, holder);
  }

  #leave(connection: Connection): void {
    const { holder } = connection;
    if (holder === null) return;
    connection.holder = null;
    this.#budget.give(holder);
    if (!this.#strangers.delete(connection)) return;
    const address = holder.address ?? '';
    const ofAddress = this.#strangersOf.get(address);
    ofAddress?.delete(connection);
    if (ofAddress?.size === 0) this.#strangersOf.delete(address);
  }

  #addStranger(connection: Connection, address: string): void {
    this.#strangers.add(connection);
    const ofAddress = this.#strangersOf.get(address) ?? new Set();
    this.#strangersOf.set(address, ofAddress.add(connection));
  }
}

/** One open connection, and whom it counts for. */
export class Connection {
  /** Whether its peer is the client itself, not a proxy. */
  readonly isDirect: boolean;
  /** Tells the book that a request on it was proven to be this project's. */
  readonly prove: (project: string) => void;
  /** Null while it isn't counted. */
  holder: Holder | null = null;
  /** The answers under way; a client may send its next request before it has the answer to the last. */
  readonly responses = new Set<ServerResponse>();
  readonly #socket: Socket;

  constructor(socket: Socket, address: string | null, prove: (project: string) => void) {
    this.#socket = socket;
    this.isDirect = address !== null;
    this.prove = prove;
  }

  /** Closes it, and says why unless an answer has begun. */
  end(why: ServiceError): void {
    const socket = this.#socket;
    const hasBegun = [...this.responses].some(({ headersSent }) => headersSent);
    if (hasBegun || !socket.writable) {
      socket.destroy();
      return;
    }
    socket.end(rawAnswer(why));
    const closing = setTimeout(() => socket.destroy(), CLOSING_MS);
    socket.once('close', () => clearTimeout(closing));
  }
}
