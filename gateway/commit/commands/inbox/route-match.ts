import { matchesType } from '../../../../shared/rules/inbox/event-type.ts';

/** The conditions of a route; null matches everything. */
interface RoutePattern {
  readonly match_source: string | null;
  /** Exact, or a prefix ending `*`. */
  readonly match_type: string | null;
}

/** Returns every route that matches the event (spec section 4.7). */
export function matchingRoutes<R extends RoutePattern>(
  routes: readonly R[],
  event: { readonly source: string; readonly type: string },
): R[] {
  return routes.filter(
    ({ match_source, match_type }) =>
      (match_source === null || match_source === event.source) &&
      matchesType(match_type, event.type),
  );
}
