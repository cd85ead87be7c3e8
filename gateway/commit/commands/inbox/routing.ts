import { isoTime } from '../../../../shared/lib/clock.ts';
import { newId } from '../../../../shared/lib/ids.ts';
import { matchingRoutes } from './route-match.ts';
import { destinationOf } from './destination.ts';
import type { Job } from '../../context/job.ts';

/** A stored event, as routes and waits see it. */
interface NewArrival {
  readonly seq: number;
  readonly source: string;
  readonly type: string;
  /** Routes to this destination don't get the event. */
  readonly exceptTo?: string | undefined;
  /** Nobody has to work it. */
  readonly isDone?: boolean | undefined;
}

type Announcing = Pick<Job, 'store' | 'routing' | 'emit'>;

/**
 * Hands on a stored event in the transaction that stores it: to every matching route or, without one, to the callers
 * that wait.
 */
export async function announce(job: Announcing, event: NewArrival, now: number): Promise<void> {
  const { store, routing, emit } = job;
  const { seq, source, type, exceptTo } = event;
  const matching = matchingRoutes(await routing.open(store), event);
  const routes = matching.filter(({ destination }) => destination !== exceptTo);
  if (routes.length === 0 && event.isDone) {
    await store.events.setDone(seq, isoTime(now));
    return;
  }
  if (routes.length === 0) {
    emit({ kind: 'event_ready', source, type });
    return;
  }
  await store.deliveries.setRouted(seq);
  for (const { id: routeId, callback_url: url, destination } of routes) {
    await queue(job, { seq, routeId, requestId: null, url, destination }, now);
  }
}

/**
 * Sends an event to a request's callback_url, signed with the project's secret. Agents can still claim the event in
 * the inbox.
 */
export async function queueCallback(
  job: Announcing,
  callback: { readonly seq: number; readonly url: string; readonly requestId: string },
  now: number,
): Promise<void> {
  const destination = destinationOf(callback.url);
  await queue(job, { ...callback, routeId: null, destination }, now);
}

async function queue(
  { store, emit }: Announcing,
  outgoing: {
    readonly seq: number;
    readonly routeId: string | null;
    readonly requestId: string | null;
    readonly url: string;
    readonly destination: string;
  },
  now: number,
): Promise<void> {
  const { seq, ...target } = outgoing;
  const { destination } = target;
  const times = { dueAt: now, createdAt: isoTime(now) };
  await store.deliveries.insert({ id: newId('dlv', now), eventSeq: seq, ...target, ...times });
  emit({ kind: 'delivery_due', destination });
}
