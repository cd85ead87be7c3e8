import { isoTime } from '../../lib/clock.ts';
import type { WriteContext } from '../../kernel/context.ts';
import { routedEvent } from '../../rules/delivery-state.ts';
import type { Repositories } from '../../store/repositories.ts';

/** So many deliveries of a closed route are cancelled in one transaction. */
export const RELEASE_PORTION = 200;

type ReleaseContext = Pick<WriteContext, 'store' | 'now' | 'emit'>;

/**
 * Cancels what a closed route has under way, at most `limit`; returns how many. An event that no other route holds is
 * pending for whoever pulls.
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
    const { status, routed } = await settleEvent(store, event_seq, nowIso);
    const event = status === 'pending' && !routed && (await store.deliveries.eventOf(event_seq));
    if (event) emit({ kind: 'event_ready', source: event.source, type: event.type });
  }
  return rows.length;
}

/** Writes down where a routed event stands now that one of its deliveries has changed. */
export async function settleEvent(
  store: Repositories,
  eventSeq: number,
  nowIso: string,
): Promise<ReturnType<typeof routedEvent>> {
  const state = routedEvent(await store.deliveries.statusesOf(eventSeq));
  await store.deliveries.setEvent(eventSeq, { ...state, nowIso });
  return state;
}
