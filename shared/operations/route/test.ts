import * as z from 'zod';
import { isoTime } from '../../lib/clock.ts';
import type { PrepareContext } from '../../kernel/context.ts';
import type { Envelope } from '../../kernel/envelope.ts';
import { notFound } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { isSuccess } from '../../rules/inbox/retry-schedule.ts';
import { SERVICE_SOURCE } from '../../rules/inbox/source-name.ts';
import { routeId, routeAad } from './view.ts';

export const routeTest = defineOperation({
  name: 'route_test',
  summary: 'Send a signed test event to a route.',
  description:
    "Makes one attempt with an event of type `route.test`, signed with the route's secret, and returns the result. The event doesn't enter the inbox and isn't retried.",
  scope: 'admin',
  input: z.strictObject({ route_id: routeId }),
  output: z.object({
    event_id: z.string().describe('The `webhook-id` sent.'),
    delivered: z.boolean().describe('True for a 2xx answer.'),
    status_code: z.int().nullable().describe('HTTP status; null if no answer came.'),
    duration_ms: z.int().describe('How long the receiver took.'),
    error: z.string().nullable().describe('Why it failed.'),
    response: z.string().nullable().describe('The first 1 KB of the answer.'),
  }),
  errors: ['NOT_FOUND'],
  effect: 'write',
  replica: 'upstream',
  rest: { method: 'POST', path: '/v1/routes/{id}/test', params: { id: 'route_id' } },
  mcp: false,
  cli: {
    usage: 'route test <route_id>',
    examples: ['route test rte_01j9z3k4m5n6p7q8r9s0t1v2w3'],
  },
  subject: (input) => input.route_id,
  example: { route_id: 'rte_01j9z3k4m5n6p7q8r9s0t1v2w3' },
}).write({
  prepare: async (context, { route_id }) => sendSample(context, route_id),
  // The test sends something out, so the ledger records it; nothing else is stored.
  commit: async (_context, { route_id }, sent) => {
    if (!sent) throw notFound(`route ${route_id}`);
    return sent;
  },
});

async function sendSample(context: PrepareContext, id: string) {
  const { callbacks, project, read, vault, now } = context;
  const route = await read((store) => store.routes.find(id));
  if (!route?.secret) return null;
  const secret = Buffer.from(vault.open(routeAad(project.id, id), route.secret)).toString('utf8');
  const sample = sampleEvent(project.id, id, now);
  const outcome = await callbacks.send({
    url: route.callback_url,
    secrets: [secret],
    id: sample.id,
    body: JSON.stringify(sample),
    attempt: 1,
  });
  const answered = outcome.kind === 'answered';
  return {
    event_id: sample.id,
    delivered: answered && isSuccess(outcome.status),
    status_code: answered ? outcome.status : null,
    duration_ms: outcome.durationMs,
    error: answered ? null : outcome.reason,
    response: answered ? outcome.response : null,
  };
}

function sampleEvent(projectId: string, route_id: string, now: number): Envelope {
  return {
    id: newId('evt', now),
    project: projectId,
    source: SERVICE_SOURCE,
    channel: 'service',
    type: 'route.test',
    received_at: isoTime(now),
    verified: true,
    trust: 'service',
    suspected_replay: false,
    reply_to: null,
    payload: { route_id, message: 'This is a test.' },
    payload_url: null,
    payload_truncated: false,
    payload_purged: false,
    status: 'pending',
    attempts: 0,
    retry_at: null,
  };
}
