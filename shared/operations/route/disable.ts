import * as z from 'zod';
import { notFound } from '../../lib/errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { MakerNames } from '../access/maker.ts';
import { disableRoute } from './close.ts';
import { routeId, routeView, toRouteView } from './view.ts';

export const routeDisable = defineOperation({
  name: 'route_disable',
  summary: 'Disable a route until you enable it again.',
  description:
    'Undelivered events are pending in the inbox again, unless another route delivers them. The inbox gets a route.disabled event, as it does if a receiver answers 410 Gone. Disabling a disabled route changes nothing.',
  scope: 'admin',
  input: z.strictObject({ route_id: routeId }),
  output: routeView,
  errors: ['NOT_FOUND'],
  effect: 'write',
  replica: 'upstream',
  rest: { method: 'POST', path: '/v1/routes/{id}/disable', params: { id: 'route_id' } },
  mcp: false,
  cli: {
    usage: 'route disable <route_id>',
    examples: ['route disable rte_01j9z3k4m5n6p7q8r9s0t1v2w3'],
  },
  subject: (input) => input.route_id,
  example: { route_id: 'rte_01j9z3k4m5n6p7q8r9s0t1v2w3' },
}).write({
  commit: async (context, { route_id }) => {
    const { routes } = context.store;
    const route = await routes.find(route_id);
    if (!route) throw notFound(`route ${route_id}`);
    await disableRoute(context, route, { reason: 'Disabled by hand.', eventId: null });
    return toRouteView((await routes.find(route_id)) ?? route, new MakerNames(context));
  },
});
