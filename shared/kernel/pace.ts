import { setImmediate } from 'node:timers/promises';
import { Admission } from '../admission/admission.ts';
import { laneOf, type Lane } from '../admission/fair-queue.ts';

type Limiter = Pick<Admission, 'alone' | 'turns'>;

/** Keeps the long work of one project from taking the event loop from other callers. */
export class Pace {
  readonly #admission: Limiter;
  readonly #projectId: string;
  readonly #lane: Lane;

  constructor(projectId = '', admission: Limiter = Admission.local()) {
    this.#projectId = projectId;
    this.#admission = admission;
    this.#lane = laneOf('known', projectId, '');
  }

  /** Lets other work run. Call it every few milliseconds. */
  async breathe(): Promise<void> {
    await setImmediate();
    await this.#admission.turns.turn(this.#lane);
  }

  /** Runs long work when no other of its kind runs for this project; see `Admission.alone`. */
  alone<T>(
    kind: Parameters<Admission['alone']>[0],
    work: () => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    return this.#admission.alone(kind, this.#projectId, { work, ...(signal && { signal }) });
  }
}
