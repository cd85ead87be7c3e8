import type { Logger } from 'pino';
import type { TurnedAway } from '../../shared/admission/admission.ts';

/** How often a line is written for one door and reason. */
const EVERY_MS = 10_000;
/** Reasons that concern one project only. */
const OF_ONE: ReadonlySet<TurnedAway['reason']> = new Set([
  'project',
  'key',
  'session',
  'connection',
  'slow',
]);

/** Logs who was turned away: the first at once, and then one of many every ten seconds, with their number. */
export class RefusalLog {
  readonly #log: Logger;
  readonly #now: () => number;
  readonly #noted = new Map<string, { readonly at: number; readonly since: number }>();

  /** `now` is for tests, in milliseconds. */
  constructor(log: Logger, now: () => number = () => performance.now()) {
    this.#log = log;
    this.#now = now;
  }

  note({ at, reason, holder }: TurnedAway): void {
    const name = `${at} ${reason}`;
    const last = this.#noted.get(name);
    const now = this.#now();
    if (last !== undefined && now - last.at < EVERY_MS) {
      this.#noted.set(name, { at: last.at, since: last.since + 1 });
      return;
    }
    this.#noted.set(name, { at: now, since: 0 });
    const { address, project, key } = holder;
    this.#log[OF_ONE.has(reason) ? 'info' : 'warn'](
      {
        at,
        reason,
        count: (last?.since ?? 0) + 1,
        ...(address != null && { client: address }),
        ...(project != null && { project }),
        ...(key != null && { key }),
      },
      'turned away',
    );
  }
}
