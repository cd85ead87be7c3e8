import * as z from 'zod';
import { isoTime } from '../../lib/clock.ts';
import { notFound } from '../../lib/errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { RELEASE_PORTION, releaseDeliveries } from './release.ts';
import { routeId } from './view.ts';

export const routeRemove = defineOperation({
  name: 'route_remove',
  summary: 'Remove a route and stop sending to its URL.',
  description:
    'Undelivered events are pending in the inbox again, unless another route delivers them. Dead events stay dead; put one back in the queue with inbox_requeue.',
  scope: 'admin',
  input: z.strictObject({ route_id: routeId }),
  output: z.object({
    id: z.string().describe('`rte_…`.'),
    removed_at: z.string().describe('When it was removed.'),
  }),
  errors: ['NOT_FOUND'],
  effect: 'write',
  replica: 'upstream',
  rest: { method: 'DELETE', path: '/v1/routes/{id}', params: { id: 'route_id' } },
  mcp: false,
  cli: {
    usage: 'route remove <route_id>',
    examples: ['route remove rte_01j9z3k4m5n6p7q8r9s0t1v2w3'],
  },
  subject: (input) => input.route_id,
  example: { route_id: 'rte_01j9z3k4m5n6p7q8r9s0t1v2w3' },
}).write({
  commit: async (context, { route_id }) => {
    const { store, now, emit } = context;
    if (!(await store.routes.find(route_id))) throw notFound(`route ${route_id}`);
    const removedAt = isoTime(now);
    await store.routes.remove(route_id, removedAt);
    emit({ kind: 'callbacks_changed' });
    const released = await releaseDeliveries(context, route_id, RELEASE_PORTION);
    // Release a long queue in portions, so that other writes don't wait for all of it.
    if (released === RELEASE_PORTION) emit({ kind: 'due', at: now });
    return { id: route_id, removed_at: removedAt };
  },
});
