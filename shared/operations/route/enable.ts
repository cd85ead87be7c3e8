import * as z from 'zod';
import { notFound } from '../../lib/errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { MakerNames } from '../access/maker.ts';
import { settleEvent } from './release.ts';
import { routeId, routeView, toRouteView } from './view.ts';

/** How many deliveries one call resumes. */
const RESUME_MAX = 500;

export const routeEnable = defineOperation({
  name: 'route_enable',
  summary: 'Enable a disabled route.',
  description:
    'The route takes new events again. It also delivers events from the last 30 days that it returned when disabled and that are still pending, each with a new round of attempts: up to 500 a call (if `more` is true, call again). It leaves claimed events alone. Enabling an enabled route changes nothing.',
  scope: 'admin',
  input: z.strictObject({ route_id: routeId }),
  output: routeView.extend({
    resumed: z.int().describe('Deliveries due now.'),
    more: z.boolean().describe('True if there are more: call again.'),
  }),
  errors: ['NOT_FOUND'],
  effect: 'write',
  replica: 'upstream',
  rest: { method: 'POST', path: '/v1/routes/{id}/enable', params: { id: 'route_id' } },
  mcp: false,
  cli: {
    usage: 'route enable <route_id>',
    examples: ['route enable rte_01j9z3k4m5n6p7q8r9s0t1v2w3'],
  },
  subject: (input) => input.route_id,
  example: { route_id: 'rte_01j9z3k4m5n6p7q8r9s0t1v2w3' },
}).write({
  commit: async (context, { route_id }) => {
    const { store, now, emit } = context;
    const route = await store.routes.find(route_id);
    if (!route) throw notFound(`route ${route_id}`);
    await store.routes.enable(route_id);
    emit({ kind: 'callbacks_changed' });
    const resumed = await store.deliveries.resumable(route_id, now, RESUME_MAX);
    for (const { id, event_seq } of resumed) {
      await store.deliveries.revive(id, now);
      await settleEvent(context, event_seq);
    }
    if (resumed.length > 0) emit({ kind: 'delivery_due', destination: route.destination });
    const enabled = { ...route, enabled: 1, disabled_reason: null };
    return {
      ...(await toRouteView(enabled, new MakerNames(context))),
      resumed: resumed.length,
      more: resumed.length === RESUME_MAX,
    };
  },
});
