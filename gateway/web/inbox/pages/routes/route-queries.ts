import { routeAttempts } from '../../../../../shared/operations/route/attempts.ts';
import { routeList } from '../../../../../shared/operations/route/list.ts';
import { allItems } from '../../../ui/all-items.ts';
import type { Tone } from '../../../ui/parts.tsx';
import type { PageContext } from '../../page-context.ts';
import { parsedUrl } from '../../../../../shared/lib/urls.ts';

/** A route as `route_list` returns it. */
export interface Route {
  readonly id: string;
  readonly callback_url: string;
  readonly match_source: string | null;
  readonly match_type: string | null;
  readonly enabled: boolean;
  readonly disabled_reason: string | null;
  readonly created_at: string;
  readonly maker: string;
  readonly pending: number;
  readonly dead: number;
}

/** The result of a delivery attempt or a test. */
export interface Outcome {
  readonly status_code: number | null;
  readonly duration_ms: number;
  readonly error: string | null;
  readonly response: string | null;
}

export interface Attempt extends Outcome {
  readonly attempt: number;
  readonly at: string;
}

export const DELIVERY_STATUSES = ['pending', 'delivered', 'dead', 'cancelled'] as const;

/** A delivery as `route_attempts` returns it, with attempts newest first. */
export interface Delivery {
  readonly delivery_id: string;
  readonly event_id: string;
  readonly event_type: string;
  readonly status: (typeof DELIVERY_STATUSES)[number];
  readonly attempts: number;
  readonly next_attempt_at: string | null;
  readonly created_at: string;
  readonly log: readonly Attempt[];
}

interface Deliveries {
  readonly items: readonly Delivery[];
  readonly next_cursor: string | null;
}

export const { all: routesOf, one: routeOf } = allItems<Route>(routeList, ({ id }) => id);

export async function deliveriesOf(
  context: PageContext,
  route_id: string,
  page: Readonly<Record<string, unknown>>,
): Promise<Deliveries> {
  return (await context.call(routeAttempts, { route_id, ...page })) as Deliveries;
}

/** How many deliveries to search for the last attempt. */
export const LOOKED_AT = 3;

/** The newest attempt among the newest deliveries; null if there is none. */
export function lastAttempt(deliveries: readonly Delivery[]): Attempt | null {
  const newest = deliveries.flatMap(({ log }) => log.slice(0, 1));
  return newest.toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at))[0] ?? null;
}

export function isDelivered({ status_code: code }: Outcome): boolean {
  return code !== null && code >= 200 && code < 300;
}

/** The state of a route in one word: `Failing` if its last attempt failed. */
export function routeState(
  { enabled }: Route,
  last: Attempt | null,
): readonly [text: string, tone: Tone] {
  if (!enabled) return ['Disabled', 'bad'];
  return last !== null && !isDelivered(last) ? ['Failing', 'warn'] : ['Active', 'good'];
}

/** Such as `200 in 34 ms` or `no answer after 15000 ms`. */
export function outcomeText({ status_code: code, duration_ms: ms }: Outcome): string {
  return code === null ? `no answer after ${ms} ms` : `${code} in ${ms} ms`;
}

/** The host of a URL, with its port if it has one. */
export function hostOf(url: string): string {
  return parsedUrl(url)?.host ?? url;
}
