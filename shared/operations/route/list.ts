import * as z from 'zod';
import { named } from '../../kernel/schema-names.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { MakerNames } from '../access/maker.ts';
import { noCursor } from '../fields.ts';
import { routeView, toRouteView } from './view.ts';

export const routeList = defineOperation({
  name: 'route_list',
  summary: 'List routes that push events to URLs.',
  description:
    'Each route has its count of pending and dead deliveries. The service disables a route if its receiver answers 410 Gone; see route_enable.',
  scope: 'inbox:read',
  input: z.strictObject({}),
  output: z.object({
    items: z
      .array(
        named(
          'RouteWithCounts',
          routeView
            .extend({
              pending: z.int().describe('Deliveries waiting for an attempt.'),
              dead: z.int().describe('Deliveries given up; see route_retry.'),
            })
            .describe('A route with its open deliveries.'),
        ),
      )
      .describe('Oldest first.'),
    next_cursor: noCursor('the list has one page'),
  }),
  errors: [],
  effect: 'read',
  replica: 'local',
  rest: { method: 'GET', path: '/v1/routes' },
  mcp: false,
  cli: {
    usage: 'route list',
    examples: ['route list'],
    columns: ['id', 'callback_url', 'match_source', 'match_type', 'enabled', 'pending', 'dead'],
  },
  example: {},
}).read(async (context) => {
  const { store, now } = context;
  const names = new MakerNames(context);
  const items = [];
  for (const row of await store.routes.list()) {
    const counts = await store.deliveries.countsOf(row.id, now);
    items.push({ ...(await toRouteView(row, names)), ...counts });
  }
  return { items, next_cursor: null };
});
