import * as z from 'zod';
import { named } from '../../kernel/schema-names.ts';
import { isoTime } from '../../lib/clock.ts';
import { decodeIdCursor, encodeCursor } from '../../lib/cursor.ts';
import { notFound } from '../../lib/errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import type { LoggedDelivery } from '../../store/tables/inbox/deliveries.ts';
import { listCursor, listLimit, nextCursor } from '../fields.ts';
import { deliveryId, routeId } from './view.ts';

/** Two rounds of attempts; older ones don't help to find a fault. */
const LOG_MAX = 12;

const attemptView = named(
  'RouteAttempt',
  z
    .object({
      attempt: z.int().describe('From 1.'),
      at: z.string().describe('When it was sent.'),
      status_code: z.int().nullable().describe('Null if no answer came.'),
      duration_ms: z.int().describe('How long the receiver took.'),
      error: z.string().nullable().describe('Why it failed.'),
      response: z.string().nullable().describe('The first 1 KB of the answer.'),
    })
    .describe('One try to deliver an event.'),
);

export const routeAttempts = defineOperation({
  name: 'route_attempts',
  summary: "Show a route's deliveries and attempts.",
  description:
    "Lists deliveries of the last 30 days, newest first. Each has its latest attempts: status, duration, error and the start of the receiver's response, which is untrusted text.",
  scope: 'inbox:read',
  input: z.strictObject({
    route_id: routeId,
    status: z
      .enum(['pending', 'delivered', 'dead', 'cancelled'])
      .optional()
      .describe('Only deliveries in this state.'),
    cursor: listCursor,
    limit: listLimit,
  }),
  output: z.object({
    items: z
      .array(
        named(
          'RouteDelivery',
          z
            .object({
              delivery_id: deliveryId.describe('`dlv_…`.'),
              event_id: z.string().describe('`evt_…`.'),
              event_type: z.string().describe('Type of the event.'),
              status: z
                .enum(['pending', 'delivered', 'dead', 'cancelled'])
                .describe('`dead` after the last attempt failed.'),
              attempts: z.int().describe('How many attempts so far.'),
              next_attempt_at: z.string().nullable().describe('When it is tried again.'),
              created_at: z.string().describe('When the event matched.'),
              finished_at: z.string().nullable().describe('When it was delivered or given up.'),
              log: z.array(attemptView).describe('Newest first.'),
            })
            .describe('An event on its way to a callback.'),
        ),
      )
      .describe('Newest first.'),
    next_cursor: nextCursor,
  }),
  errors: ['NOT_FOUND'],
  effect: 'read',
  replica: 'local',
  rest: { method: 'GET', path: '/v1/routes/{id}/attempts', params: { id: 'route_id' } },
  mcp: false,
  cli: {
    usage: 'route attempts <route_id>',
    examples: [
      'route attempts rte_01j9z3k4m5n6p7q8r9s0t1v2w3',
      'route attempts rte_01j9z3k4m5n6p7q8r9s0t1v2w3 --status dead',
    ],
    columns: ['delivery_id', 'event_id', 'event_type', 'status', 'attempts', 'next_attempt_at'],
  },
  example: { route_id: 'rte_01j9z3k4m5n6p7q8r9s0t1v2w3', limit: 5 },
}).read(async ({ store, now }, { route_id, status, cursor, limit }) => {
  const beforeId = decodeIdCursor(cursor, /^dlv_[0-9a-z]{26}$/);
  if (!(await store.routes.find(route_id))) throw notFound(`route ${route_id}`);
  const page = { routeId: route_id, status, beforeId, limit: limit + 1, now };
  const rows = await store.deliveries.page(page);
  const items = [];
  for (const row of rows.slice(0, limit)) {
    items.push({ ...toView(row), log: await store.deliveries.attempts(row.id, LOG_MAX) });
  }
  const last = items.at(-1);
  const next = rows.length > limit && last ? encodeCursor(last.delivery_id) : null;
  return { items, next_cursor: next };
});

function toView(row: LoggedDelivery) {
  const { id, event_id, event_type, status, attempts, due_at, created_at, finished_at } = row;
  const next_attempt_at = due_at === null ? null : isoTime(due_at);
  const times = { next_attempt_at, created_at, finished_at };
  return { delivery_id: id, event_id, event_type, status, attempts, ...times };
}
