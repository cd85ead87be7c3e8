import { matchesType } from '../../shared/rules/event-type.ts';

/** What a route asks of an event; null asks nothing. */
interface RoutePattern {
  readonly match_source: string | null;
  /** Exact, or a prefix ending `*`. */
  readonly match_type: string | null;
}

/** The routes an event takes: every one that matches (spec section 4.7). */
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
