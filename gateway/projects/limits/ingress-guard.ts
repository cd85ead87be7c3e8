import type { Clock } from '../../../shared/lib/clock.ts';
import { ServiceError } from '../../../shared/lib/errors.ts';
import { limitText, type ReachedLimit } from '../../../shared/rules/inbox/ingress-limit.ts';
import type { DeliveryAnswer, StoredAnswer } from '../../commit/commands/inbox/delivery.ts';
import type { DiskSpace } from './disk-space.ts';
import type { Project } from '../project.ts';

/** How long we refuse a source without asking its rows again, so that a flood costs neither bodies nor transactions. */
const REFUSED_MS = 10_000;
/** Above this, the sources whose time is over are forgotten. */
const REMEMBERED_MAX = 1000;

interface GuardedSource {
  readonly id: string;
  readonly name: string;
}

interface IngressGuardDeps {
  readonly clock: Clock;
  readonly disk: DiskSpace;
  /** Counts refused deliveries and reports them now and then. */
  onRefused(project: Project, source: GuardedSource, reason: string): void;
}

/** Keeps senders from filling a project or the disk: says which deliveries may come in, and tells senders to retry. */
export class IngressGuard {
  readonly #deps: IngressGuardDeps;
  /** By source. The rows decide; this only remembers their last answer. */
  readonly #refused = new Map<string, { readonly until: number; readonly limit: ReachedLimit }>();

  constructor(deps: IngressGuardDeps) {
    this.#deps = deps;
  }

  /**
   * Throws RATE_LIMITED if the source has just reached a limit, and UNAVAILABLE if the disk has no room for the project.
   * Ask before reading a body.
   */
  admit(project: Project, source: GuardedSource, bytes: number): void {
    this.#deps.disk.admit(project, bytes);
    const refused = this.#refused.get(source.id);
    if (!refused) return;
    if (this.#deps.clock.now() < refused.until) this.#refuse(project, source, refused.limit);
    this.#refused.delete(source.id);
  }

  /** The answer for the sender. Throws RATE_LIMITED if the source has reached a limit. */
  settle(project: Project, source: GuardedSource, result: StoredAnswer): DeliveryAnswer {
    if (result.status !== 'limited') return result;
    const now = this.#deps.clock.now();
    if (this.#refused.size >= REMEMBERED_MAX) this.#forget(now);
    const { limit } = result;
    const until = now + Math.min(REFUSED_MS, limit.retry_after * 1000);
    this.#refused.set(source.id, { until, limit });
    return this.#refuse(project, source, limit);
  }

  #forget(now: number): void {
    for (const [id, { until }] of this.#refused) if (until <= now) this.#refused.delete(id);
  }

  #refuse(project: Project, source: GuardedSource, limit: ReachedLimit): never {
    const text = limitText(limit.kind, limit.limit);
    this.#deps.onRefused(project, source, text);
    throw new ServiceError('RATE_LIMITED', {
      hint: `${text} Repeat it after details.retry_after seconds.`,
      details: { ...limit },
    });
  }
}

/** Whether only one source or project can't take something in now, so that others may go on. */
export function isRefusal(error: unknown): error is ServiceError {
  return error instanceof ServiceError && typeof error.details?.['kind'] === 'string';
}
