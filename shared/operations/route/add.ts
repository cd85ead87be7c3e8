import * as z from 'zod';
import { isoTime } from '../../lib/clock.ts';
import { invalid } from '../../lib/errors.ts';
import { CALLBACK_URL_MAX_CHARS, ROUTES_MAX } from '../../lib/limits.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { sourceFilter, typePattern } from '../fields.ts';
import { MakerNames } from '../access/maker.ts';
import { tellOwners } from '../access/tell.ts';
import { sourceWarnings } from '../source/warnings.ts';
import { routeAad, routeView, toRouteView } from './view.ts';

export const routeAdd = defineOperation({
  name: 'route_add',
  summary: 'Push matching events to a URL.',
  description:
    "The service POSTs new matching events to callback_url, signed as Standard Webhooks; they're no longer left to pull. Any 2xx within 15 seconds counts as delivered. It retries failures after 1 min, 5 min, 30 min, 2 h and 12 h. Without match_source and match_type every event matches. The secret is shown only once.",
  scope: 'admin',
  input: z.strictObject({
    callback_url: z
      .string()
      .min(1)
      .max(CALLBACK_URL_MAX_CHARS)
      .describe('The https URL to send events to, on a public address.'),
    match_source: sourceFilter
      .optional()
      .describe("Only events of this source; `service` means the service's own."),
    match_type: typePattern
      .optional()
      .describe('Only events of this type, or with a prefix: `invoice.*`.'),
  }),
  output: routeView.extend({
    secret: z.string().describe('Receivers check signatures with it; shown only once.'),
    warnings: z.array(z.string()).describe('Why the route might never match.'),
  }),
  errors: ['CALLBACK_URL_REJECTED'],
  effect: 'write',
  replica: 'upstream',
  rest: { method: 'POST', path: '/v1/routes', status: 201 },
  mcp: false,
  cli: {
    usage: 'route add <callback_url>',
    examples: [
      'route add https://example.com/hooks/svc',
      "route add https://example.com/hooks/billing --match-source stripe --match-type 'invoice.*'",
    ],
  },
  subject: (_input, output) => output.id,
  example: {
    callback_url: 'https://example.com/hooks/billing',
    match_source: 'stripe',
    match_type: 'invoice.*',
  },
}).write({
  prepare: async ({ callbacks }, { callback_url }) => ({
    destination: (await callbacks.check(callback_url)).destination,
    secret: callbacks.newSecret(),
  }),
  commit: async (context, wanted, { destination, secret }) => {
    const { caller, store, vault, project, now, newId, emit } = context;
    if ((await store.routes.count()) >= ROUTES_MAX) {
      const message = `The project has reached the limit of ${ROUTES_MAX} routes: remove one first.`;
      throw invalid({ path: 'callback_url', message });
    }
    const id = newId('rte');
    const row = {
      id,
      callback_url: wanted.callback_url,
      destination,
      match_source: wanted.match_source ?? null,
      match_type: wanted.match_type ?? null,
      enabled: 1,
      disabled_reason: null,
      secret: vault.seal(routeAad(project.id, id), secret),
      created_at: isoTime(now),
      created_by: caller.keyId,
    };
    await store.routes.insert(row);
    emit({ kind: 'callbacks_changed' });
    const warnings = await sourceWarnings(store, wanted.match_source);
    await tellOwners(context, id, caller);
    return { ...(await toRouteView(row, new MakerNames(context))), secret, warnings };
  },
});
