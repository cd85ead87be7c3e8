import * as z from 'zod';
import { defineOperation } from '../../kernel/operation.ts';
import { routeView, toRouteView } from './view.ts';

export const routeList = defineOperation({
  name: 'route_list',
  summary: 'List the routes that push events to URLs.',
  description:
    'Each route comes with how many deliveries are under way and how many were given up. A route whose receiver answered 410 Gone is disabled, and says so; see route_enable.',
  scope: 'inbox:read',
  input: z.strictObject({}),
  output: z.object({
    items: z.array(
      routeView.extend({
        pending: z.int().describe('Deliveries that wait for an attempt.'),
        dead: z.int().describe('Deliveries that were given up; see route_retry.'),
      }),
    ),
    next_cursor: z.null(),
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
}).read(async ({ store, now }) => {
  const items = [];
  for (const row of await store.routes.list()) {
    items.push({ ...toRouteView(row), ...(await store.deliveries.countsOf(row.id, now)) });
  }
  return { items, next_cursor: null };
});
