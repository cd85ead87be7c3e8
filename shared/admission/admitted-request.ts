import type { Admission, BodyAccount } from './admission.ts';
import type { Connection } from './connections.ts';
import type { Door } from './limits.ts';

/** Whom one request counts for: its address at first, and its project as soon as that is proven. */
export class AdmittedRequest {
  readonly #admission: Admission;
  readonly #address: string | null;
  readonly #connection: Connection | null;
  #door: Door = 'anonymous';
  #project: string | null = null;

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

  get project(): string | null {
    return this.#project;
  }

  /** It has shown a valid key, session or token of this project. Call this before its body is read. */
  proved(door: Exclude<Door, 'anonymous'>, project: string): void {
    this.#door = door;
    this.#project = project;
    this.#connection?.prove(project);
  }

  openBody(): BodyAccount {
    return this.#admission.openBody(this.#door, this.#holder);
  }

  /** Records that its body came too slowly. */
  tooSlow(): void {
    this.#admission.tooSlow(this.#door, this.#holder);
  }

  get #holder(): { address: string | null; project: string | null } {
    return { address: this.#address, project: this.#project };
  }
}
