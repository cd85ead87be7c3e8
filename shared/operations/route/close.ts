import { isoTime } from '../../lib/clock.ts';
import type { WriteContext } from '../../kernel/context.ts';
import type { RouteRow } from '../../store/tables/inbox/routes.ts';
import { RELEASE_PORTION, releaseDeliveries } from './release.ts';

/** What disabling a route needs. Operations have it, and so does a delivery that gets a 410 answer. */
type ClosingContext = Pick<WriteContext, 'store' | 'now' | 'emit' | 'record' | 'writeEvent'>;

/**
 * Disables a route: it takes no more events, and agents can claim the events that it hadn't delivered. Tells the inbox.
 * Returns whether the route was enabled before.
 */
export async function disableRoute(
  context: ClosingContext,
  route: RouteRow,
  why: { readonly reason: string; readonly eventId: string | null },
): Promise<boolean> {
  const { store, now, emit, writeEvent } = context;
  const { id: route_id, callback_url, match_source, match_type } = route;
  const at = isoTime(now);
  const isClosed = await store.routes.disable(route_id, `${why.reason} (${at})`);
  if (isClosed) {
    emit({ kind: 'callbacks_changed' });
    const { reason, eventId: event_id } = why;
    await writeEvent({
      type: 'route.disabled',
      payload: { route_id, callback_url, match_source, match_type, reason, event_id, at },
      callback: null,
    });
  }
  // Release a long queue in portions, so that other writes don't wait for all of it.
  if ((await releaseDeliveries(context, route_id, RELEASE_PORTION)) === RELEASE_PORTION)
    emit({ kind: 'due', at: now });
  return isClosed;
}
