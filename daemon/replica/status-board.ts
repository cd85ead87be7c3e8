import type { Clock } from '../../shared/lib/clock.ts';
import type { ReplicaState, ReplicaStatus } from './status.ts';

/** The minimum time between reports of a download. */
const TELL_MS = 100;

type BoardState = Pick<ReplicaStatus, 'state' | 'detail' | 'code' | 'copied' | 'offlineSince'>;

/** The replica's state and its listeners. */
export class StatusBoard {
  readonly #clock: Clock;
  readonly #listeners = new Set<() => void>();
  #shown: BoardState = {
    state: 'connecting',
    detail: null,
    code: null,
    copied: null,
    offlineSince: null,
  };
  #toldAt = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get shown(): BoardState {
    return this.#shown;
  }

  /** Returns a function that removes the listener. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  enter(state: ReplicaState, detail: string | null = null, code: string | null = null): void {
    const { state: was, offlineSince: since } = this.#shown;
    const isNew = state !== was || detail !== this.#shown.detail || code !== this.#shown.code;
    const offlineSince = state === 'offline' ? (since ?? this.#clock.now()) : null;
    this.#shown = { state, detail, code, copied: null, offlineSince };
    if (isNew) this.#tell();
  }

  /** Bytes of the database file so far. */
  copied(done: number, total: number): void {
    const isFirst = this.#shown.state !== 'copying';
    this.#shown = {
      state: 'copying',
      detail: null,
      code: null,
      copied: { done, total },
      offlineSince: null,
    };
    if (isFirst || done === total || performance.now() - this.#toldAt > TELL_MS) this.#tell();
  }

  #tell(): void {
    this.#toldAt = performance.now();
    for (const listener of this.#listeners) listener();
  }
}
