import { isoTime } from '../../lib/clock.ts';
import type { WriteContext } from '../../kernel/context.ts';
import { routedEvent } from '../../rules/inbox/delivery-state.ts';
import { wakeWaiting } from '../inbox/wake.ts';

/** How many deliveries of a closed route one transaction cancels. */
export const RELEASE_PORTION = 200;

type ReleaseContext = Pick<WriteContext, 'store' | 'now' | 'emit' | 'record'>;

/**
 * Cancels at most `limit` pending deliveries of a closed route; returns how many. An event without another route
 * becomes pending for agents to claim.
 */
export async function releaseDeliveries(
  context: ReleaseContext,
  routeId: string,
  limit: number,
): Promise<number> {
  const { store, now, emit } = context;
  const nowIso = isoTime(now);
  const rows = await store.deliveries.pendingOf(routeId, limit);
  for (const { id, attempts, event_seq } of rows) {
    await store.deliveries.finish(id, { status: 'cancelled', attempts, nowIso });
    const { status, routed } = await settleEvent(context, event_seq);
    const event = status === 'pending' && !routed && (await store.deliveries.eventOf(event_seq));
    if (event) emit({ kind: 'event_ready', source: event.source, type: event.type });
  }
  return rows.length;
}

/** Updates the state of a routed event after one of its deliveries changed; when it ends, events that wait for it go on. */
export async function settleEvent(
  context: ReleaseContext,
  eventSeq: number,
): Promise<ReturnType<typeof routedEvent>> {
  const { store, now } = context;
  const state = routedEvent(await store.deliveries.statusesOf(eventSeq));
  await store.deliveries.setEvent(eventSeq, { ...state, nowIso: isoTime(now) });
  if (state.status === 'pending') return state;
  const id = await store.parks.awaitedAt(eventSeq);
  if (id !== null) await wakeWaiting(context, id, state.status);
  return state;
}
