import type { AnswerOf } from '../../../../../shared/kernel/operation.ts';
import { routeAttempts } from '../../../../../shared/operations/route/attempts.ts';
import { routeList } from '../../../../../shared/operations/route/list.ts';
import { allItems } from '../../../ui/all-items.ts';
import type { Tone } from '../../../ui/parts.tsx';
import type { PageContext } from '../../page-context.ts';
import { parsedUrl } from '../../../../../shared/lib/urls.ts';

/** A route as `route_list` returns it. */
export type Route = AnswerOf<typeof routeList>['items'][number];

/** The result of a delivery attempt or a test. */
export interface Outcome {
  readonly status_code: number | null;
  readonly duration_ms: number;
  readonly error: string | null;
  readonly response: string | null;
}

export type Attempt = Delivery['log'][number];

export const DELIVERY_STATUSES = ['pending', 'delivered', 'dead', 'cancelled'] as const;

/** A delivery as `route_attempts` returns it, with attempts newest first. */
export type Delivery = AnswerOf<typeof routeAttempts>['items'][number];

export const { all: routesOf, one: routeOf } = allItems(routeList, ({ id }) => id);

export function deliveriesOf(
  context: PageContext,
  route_id: string,
  page: Readonly<Record<string, unknown>>,
): Promise<AnswerOf<typeof routeAttempts>> {
  return context.call(routeAttempts, { route_id, ...page });
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
