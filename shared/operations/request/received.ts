import * as z from 'zod';
import type { ApprovalContext } from '../../kernel/context.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { invalid, notFound, type ServiceError } from '../../lib/errors.ts';
import { effectiveRequestStatus, unusedHint } from '../../rules/requests/request-state.ts';
import type { RequestRow } from '../../store/tables/people/requests.ts';
import { SUMMARY_MAX_CHARS } from '../../lib/limits.ts';
import { closeOutcome } from './close-outcome.ts';
import { label } from '../fields.ts';
import { requestId } from './fields.ts';
import { closeNotices } from './resolve.ts';

export const requestReceived = defineOperation({
  name: 'request_received',
  summary: 'Confirm that the answer arrived, which closes its event.',
  description:
    'For the key that asked, once it has the decision: the event `request.resolved` is done, so no worker gets the same decision again. An event that a worker or a route has taken is left alone, and closed is false. The commands that ask, the clients and `svc mcp` call this by themselves.',
  scope: 'approvals',
  input: z.strictObject({
    request_id: requestId,
    unused: label(SUMMARY_MAX_CHARS)
      .optional()
      .describe('Why the decision came too late to be used; whoever decided sees it.'),
  }),
  output: z.object({
    request_id: z.string().describe('`req_…`.'),
    closed: z.boolean().describe('False if no event was left to close.'),
    event_id: z.string().nullable().describe('The event that is done now.'),
  }),
  errors: ['NOT_FOUND'],
  effect: 'write',
  replica: 'upstream',
  rest: { method: 'POST', path: '/v1/requests/{id}/received', params: { id: 'request_id' } },
  mcp: false,
  cli: {
    usage: 'request received <request_id>',
    examples: ['request received req_01j9z3k4m5n6p7q8r9s0t1v2w3'],
  },
  // Like an ack, it's a step of the event.
  subject: ({ request_id }, { event_id }) => event_id ?? request_id,
  example: { request_id: 'req_01j9z3k4m5n6p7q8r9s0t1v2w3' },
}).write({
  // Null where there was nothing to close, which leaves no entry in the ledger.
  commit: async (context, { request_id, unused }) => {
    const { store, caller, now } = context;
    const request = await store.requests.find(request_id);
    if (!request) throw notFound(`request ${request_id}`);
    if (request.key_id !== caller.keyId) throw unfit('Another key asked this.');
    if (effectiveRequestStatus(request, now) === 'pending') throw unfit("It isn't decided yet.");
    const eventId = await closeOutcome(context, request_id);
    const isTold = unused !== undefined && (await sayUnused(context, request, unused));
    if (eventId === null && !isTold) return null;
    return { request_id, closed: eventId !== null, event_id: eventId };
  },
  answer: async (_context, { request_id }, closed) =>
    closed ?? { request_id, closed: false, event_id: null },
});

/** The kinds whose answer has no effect but what the agent does with it. */
const FOR_THE_AGENT: readonly string[] = ['approval', 'question'];

/** Shows whoever decided that the agent had no use for it any more. The decision stands all the same. */
async function sayUnused(
  context: ApprovalContext,
  { id, kind, hint, decided_by: by, redeemed_at: usedAt }: RequestRow,
  reason: string,
): Promise<boolean> {
  const isPersons = by?.startsWith('channel:') === true && hint === null;
  if (!isPersons || usedAt !== null || !FOR_THE_AGENT.includes(kind)) return false;
  await context.store.requests.setHint(id, unusedHint(reason));
  await closeNotices(context, id);
  context.emit({ kind: 'request_ended', id });
  return true;
}

function unfit(message: string): ServiceError {
  return invalid({ path: 'request_id', message });
}
