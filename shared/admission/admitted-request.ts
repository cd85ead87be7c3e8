import type { Admission, BodyAccount } from './admission.ts';
import type { Connection } from './connections.ts';
import { laneOf, type Lane } from './fair-queue.ts';
import type { Door } from './limits.ts';
import type { Ticket } from './turns.ts';

/** Whom one request counts for: its address at first, and its project as soon as that is proven. */
export class AdmittedRequest {
  readonly #admission: Admission;
  readonly #address: string | null;
  readonly #connection: Connection | null;
  #door: Door = 'anonymous';
  #project: string | null = null;
  #lane: Lane | null = null;
  #ticket: Ticket | null = null;
  #onProved: ((project: string) => void) | null = null;
  #id: string | null = null;
  /** Whether its body came too slowly. */
  isSlow = false;

  /** `address`: the network address of the client; null isn't limited by address. */
  constructor(
    admission: Admission,
    address: string | null = null,
    connection: Connection | null = null,
  ) {
    this.#admission = admission;
    this.#address = address;
    this.#connection = connection;
  }

  /** Its request id, by which waits find it. */
  set id(id: string) {
    this.#forgetId();
    this.#id = id;
    this.#admission.requests.set(id, this);
  }

  /** Its answer was sent, or its client left. */
  ended(): void {
    this.#forgetId();
    // The map of requests keeps tables that it has outgrown, and they would keep the whole request in memory.
    this.#ticket = null;
    this.#onProved = null;
  }

  #forgetId(): void {
    if (this.#id !== null) this.#admission.requests.delete(this.#id);
    this.#id = null;
  }

  get project(): string | null {
    return this.#project;
  }

  /** It waits in this lane, or has begun. `onProved` hears whose it is. */
  entered(lane: Lane, ticket: Ticket, onProved: (project: string) => void): void {
    this.#lane = lane;
    this.#ticket = ticket;
    this.#onProved = onProved;
  }

  /** It has shown a valid key, session or token of this project. Call this before its body is read. */
  proved(door: Exclude<Door, 'anonymous'>, project: string): void {
    this.#door = door;
    this.#project = project;
    this.#connection?.prove(project);
    this.#onProved?.(project);
    if (this.#lane?.side === 'strangers') {
      const { caller, agent } = this.#lane;
      this.#lane = laneOf('known', project, caller, agent);
    }
  }

  /** It only waits from now on, so another request may begin. May be called repeatedly. */
  stepAside(): void {
    this.#ticket?.release();
  }

  /** Resolves when it may use the event loop for something that takes long. */
  async turn(): Promise<void> {
    if (this.#lane !== null) await this.#admission.turns.turn(this.#lane);
  }

  openBody(): BodyAccount {
    return this.#admission.openBody(this.#door, this.#holder);
  }

  /** Records that its body came too slowly. */
  tooSlow(): void {
    this.isSlow = true;
    this.#admission.tooSlow(this.#door, this.#holder);
  }

  get #holder(): { address: string | null; project: string | null } {
    return { address: this.#address, project: this.#project };
  }
}
