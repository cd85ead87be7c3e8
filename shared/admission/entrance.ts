import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ServiceError } from '../lib/errors.ts';
import type { Admission } from './admission.ts';
import type { AdmittedRequest } from './admitted-request.ts';
import { Callers, credentialOf, shownBy } from './callers.ts';
import { laneOf, type Lane } from './fair-queue.ts';
import { AHEAD_MAX, PLACE_BODY_BYTES, PLACES_MAX, WAITING_BODY_BYTES } from './limits.ts';
import { Ticket } from './turns.ts';

interface Entering {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The client's network address. */
  readonly address: string;
  readonly admitted: AdmittedRequest;
}

/** What we know of a connection: most of its requests show the same as the one before. */
interface Peer {
  shown: string | undefined;
  address: string;
  agent: string;
  credential: string | null;
  lane: Lane;
  /** Requests without an answer. */
  open: number;
  /** Ends those of them that came before another one was answered. */
  readonly behind: Set<() => void>;
  /** Begins those that still wait for that, in their order. */
  readonly next: (() => void)[];
}

/** Lets requests in, each in its turn. */
export class Entrance {
  readonly #admission: Admission;
  readonly #callers = new Callers();
  readonly #peers = new WeakMap<Socket, Peer>();

  constructor(admission: Admission) {
    this.#admission = admission;
  }

  /**
   * Calls `begin` when it's the request's turn, and the one before it on its connection is answered and read: nobody
   * takes more than one place by a connection that isn't read. Returns a refusal if too many wait already. A connection
   * that sends too many requests before it has answers ends.
   */
  enter(entering: Entering, begin: () => void): ServiceError | null {
    const { request, response, address, admitted } = entering;
    const peer = this.#peerOf(request, address);
    if (peer.open >= AHEAD_MAX) {
      this.#admission.cutOff({ at: 'waiting requests', reason: 'connection' }, address);
      request.socket.destroy();
      return null;
    }
    const { lane, credential } = peer;
    const { turns } = this.#admission;
    const ticket = new Ticket(turns, lane, placesOf(request));
    const isQueued = peer.open > 0;
    peer.open += 1;
    admitted.entered(lane, ticket, (project) => {
      if (lane.side === 'known' || credential === null) return;
      this.#callers.remember(credential, project);
      peer.lane = laneOf('known', project, credential, peer.agent);
    });
    response.on('prefinish', () => {
      ticket.release();
      if (request.socket.writableLength > 0) this.#countUnread(entering);
    });
    let isOver = false;
    const closed = (): void => {
      if (isOver) return;
      isOver = true;
      ticket.release();
      peer.open -= 1;
      peer.behind.delete(closed);
      admitted.ended();
      if (admitted.project === null) this.#doubt(peer, response.statusCode);
      if (!request.socket.destroyed) peer.next.shift()?.();
    };
    response.on('close', closed);
    // An answer behind another one has no connection yet, and isn't closed with it.
    if (isQueued) peer.behind.add(closed);
    const bytes = unreadBytes(request);
    const full = isQueued ? turns.wait(ticket, bytes) : turns.enter(ticket, bytes, begin);
    if (isQueued && full === null) peer.next.push(() => turns.enter(ticket, bytes, begin));
    return full && this.#admission.crowded(full, { [full.of]: lane.holder });
  }

  #peerOf(request: IncomingMessage, address: string): Peer {
    const shown = shownBy(request);
    const agent = agentOf(request);
    const known = this.#peers.get(request.socket);
    if (known && known.shown === shown && known.address === address && known.agent === agent) {
      return known;
    }
    const credential = shown === undefined ? null : credentialOf(shown);
    const project = credential === null ? null : this.#callers.projectOf(credential);
    const lane =
      project === null
        ? laneOf('strangers', address, credential ?? '', agent)
        : laneOf('known', project, credential ?? '', agent);
    if (known) return Object.assign(known, { shown, address, agent, credential, lane });
    const peer = {
      shown,
      address,
      agent,
      credential,
      lane,
      open: 0,
      behind: new Set<() => void>(),
      next: [],
    };
    request.socket.once('close', () => {
      for (const closed of peer.behind) closed();
    });
    this.#peers.set(request.socket, peer);
    return peer;
  }

  /** What a caller showed was refused, so it's no longer known. */
  #doubt(peer: Peer, status: number): void {
    if (peer.credential === null || (status !== 401 && status !== 404)) return;
    this.#callers.forget(peer.credential);
    peer.lane = laneOf('strangers', peer.address, peer.credential, peer.agent);
  }

  /** An answer that its client doesn't read stays in memory. A client that leaves too much unread is cut off. */
  #countUnread({ request, response, address, admitted: { project } }: Entering): void {
    const holder = project === null ? { address } : { project };
    const read = this.#admission.leaveUnread(request.socket.writableLength, holder);
    if (read) response.once('close', read);
    else request.socket.destroy();
  }
}

/** What the agent calls itself, because the agents of one machine share a key. */
function agentOf({ headers }: IncomingMessage): string {
  return String(headers['x-service-agent'] ?? headers['user-agent'] ?? '');
}

/** A place for each 32 KB of a body, up to 8: what we make of a body takes several times its bytes. */
function placesOf({ headers }: IncomingMessage): number {
  if (headers['transfer-encoding'] !== undefined) return 4;
  const length = Number(headers['content-length'] ?? 0);
  return Math.min(1 + Math.floor(length / PLACE_BODY_BYTES), PLACES_MAX);
}

/** What Node reads of a body that we haven't taken yet. */
function unreadBytes({ headers }: IncomingMessage): number {
  if (headers['transfer-encoding'] !== undefined) return WAITING_BODY_BYTES;
  const length = headers['content-length'];
  return length === undefined ? 0 : Math.min(Number(length), WAITING_BODY_BYTES);
}
