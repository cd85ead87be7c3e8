import { isoTime } from '../../lib/clock.ts';
import type { WriteContext } from '../../kernel/context.ts';
import type { RouteRow } from '../../store/routes.ts';
import { RELEASE_PORTION, releaseDeliveries } from './release.ts';

/** What it takes to disable a route: an operation has it, and so has an attempt that was answered with 410. */
type ClosingContext = Pick<WriteContext, 'store' | 'now' | 'emit' | 'writeEvent'>;

/**
 * The route takes no more events, and what it had not delivered is pending for agents to claim. Tells the inbox, and answers
 * whether the route was enabled before.
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
  // A long queue is given back in portions, so that nobody waits for all of it.
  if ((await releaseDeliveries(context, route_id, RELEASE_PORTION)) === RELEASE_PORTION)
    emit({ kind: 'due', at: now });
  return isClosed;
}
