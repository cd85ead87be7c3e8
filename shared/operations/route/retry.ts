import * as z from 'zod';
import type { WriteContext } from '../../kernel/context.ts';
import { invalid, notFound, ServiceError } from '../../lib/errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { keptSince } from '../../rules/inbox/retention.ts';
import type { DeliveryRow } from '../../store/tables/inbox/deliveries.ts';
import { settleEvent } from './release.ts';
import { deliveryId, routeId } from './view.ts';

/** How many deliveries one call retries. */
const RETRY_MAX = 500;

export const routeRetry = defineOperation({
  name: 'route_retry',
  summary: "Retry a route's deliveries now.",
  description:
    'Without delivery_id, retries all dead deliveries and all that wait for their next attempt, up to 500 a call (if `more` is true, call again). A dead delivery gets a new round of attempts, and its event is pending until delivered. Events that went back to the inbox are left alone.',
  scope: 'admin',
  input: z.strictObject({
    route_id: routeId,
    delivery_id: deliveryId.optional().describe('Only this delivery, `dlv_…`.'),
  }),
  output: z.object({
    route_id: z.string().describe('`rte_…`.'),
    retried: z.int().describe('Deliveries due now.'),
    more: z.boolean().describe('True if there are more: call again.'),
  }),
  errors: ['NOT_FOUND', 'EVENT_NOT_CLAIMABLE'],
  effect: 'write',
  replica: 'upstream',
  rest: { method: 'POST', path: '/v1/routes/{id}/retry', params: { id: 'route_id' } },
  mcp: false,
  cli: {
    usage: 'route retry <route_id> [delivery_id]',
    examples: [
      'route retry rte_01j9z3k4m5n6p7q8r9s0t1v2w3',
      'route retry rte_01j9z3k4m5n6p7q8r9s0t1v2w3 dlv_01j9z3k4m5n6p7q8r9s0t1v2w3',
    ],
  },
  subject: (input) => input.delivery_id ?? input.route_id,
  example: { route_id: 'rte_01j9z3k4m5n6p7q8r9s0t1v2w3' },
}).write({
  commit: async (context, { route_id, delivery_id }) => {
    const { store, emit } = context;
    const route = await store.routes.find(route_id);
    if (!route) throw notFound(`route ${route_id}`);
    if (route.enabled === 0) {
      const message = `This route is disabled: ${route.disabled_reason ?? 'it takes no events.'} Enable it first: route_enable.`;
      throw invalid({ path: 'route_id', message });
    }
    const { retried, more } =
      delivery_id === undefined
        ? await retryAll(context, route_id)
        : await retryOne(context, route_id, delivery_id);
    if (retried > 0) emit({ kind: 'delivery_due', destination: route.destination });
    return { route_id, retried, more };
  },
});

interface RetryResult {
  readonly retried: number;
  readonly more: boolean;
}

async function retryAll(context: WriteContext, route: string): Promise<RetryResult> {
  const { store, now } = context;
  const dead = await store.deliveries.revivable(route, now, RETRY_MAX);
  for (const row of dead) await revive(context, row);
  const waiting = await store.deliveries.hasten(route, now, RETRY_MAX - dead.length);
  const retried = dead.length + waiting;
  return { retried, more: retried === RETRY_MAX };
}

async function retryOne(context: WriteContext, route: string, id: string): Promise<RetryResult> {
  const { store, now } = context;
  const row = await store.deliveries.find(id);
  if (row?.route_id !== route) throw notFound(`delivery ${id} of this route`);
  if (row.status === 'pending') await store.deliveries.retryAt(id, row.attempts, now);
  else if (await isGivenUp(context, row)) await revive(context, row);
  else {
    throw new ServiceError('EVENT_NOT_CLAIMABLE', {
      hint: 'It was delivered, or its event went back to the inbox; see route_attempts.',
    });
  }
  return { retried: 1, more: false };
}

/** Also false if the delivery is past its retention, or the event is no longer dead. */
async function isGivenUp({ store, now }: WriteContext, row: DeliveryRow): Promise<boolean> {
  if (row.status !== 'dead' || row.created_at < keptSince(now)) return false;
  return (await store.deliveries.eventOf(row.event_seq))?.status === 'dead';
}

async function revive(context: WriteContext, row: DeliveryRow): Promise<void> {
  await context.store.deliveries.revive(row.id, context.now);
  await settleEvent(context, row.event_seq);
}
