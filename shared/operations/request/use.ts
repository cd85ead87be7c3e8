import * as z from 'zod';
import type { WriteContext } from '../../kernel/context.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { mayCall } from '../../lib/scopes.ts';
import type { RequestRow } from '../../store/tables/people/requests.ts';
import { holdFault } from '../inbox/move.ts';
import { boundValues, requestId } from './fields.ts';
import { fittingApproval, notApplicable, spend } from './spend.ts';

export const requestUse = defineOperation({
  name: 'request_use',
  summary: 'Use an approval, once, right before the act.',
  description:
    'Answers only if the request is approved or modified, bind is exactly what it bound, it was not used before, and the decision is less than 24 hours old. Else APPROVAL_NOT_APPLICABLE says why, and nothing changes. To finish the event with the act, use inbox_ack with spends.',
  scope: 'approvals',
  input: z.strictObject({
    request_id: requestId,
    bind: boundValues.describe('The values that you act on: those the request bound.'),
  }),
  output: z.object({
    request_id: z.string().describe('`req_…`.'),
    status: z.enum(['approved', 'modified']).describe('It was a yes.'),
    decision: z.string().nullable().describe('The chosen option.'),
    comment: z.string().nullable().describe('What the person added.'),
    spent_at: z.string().describe('When it was used.'),
    spent_by: z.string().describe('What used it.'),
  }),
  errors: ['NOT_FOUND', 'APPROVAL_NOT_APPLICABLE'],
  effect: 'write',
  exact: ['bind'],
  replica: 'upstream',
  rest: { method: 'POST', path: '/v1/requests/{id}/use', params: { id: 'request_id' } },
  mcp: false,
  cli: {
    usage: 'request use <request_id>',
    examples: [
      `request use req_01j9z3k4m5n6p7q8r9s0t1v2w3 --bind '{"pr": 7, "sha": "3f2a"}' && ./merge.sh 7`,
      'request use req_01j9z3k4m5n6p7q8r9s0t1v2w3 --bind @values.json',
    ],
  },
  subject: (input) => input.request_id,
  example: { request_id: 'req_01j9z3k4m5n6p7q8r9s0t1v2w3' },
}).write({
  commit: async (context, { request_id, bind }) => {
    const { caller } = context;
    const approval = await fittingApproval(context, { requestId: request_id, bind });
    if (!(await mayUse(context, approval))) throw notApplicable('other_key', approval);
    const used = await spend(context, approval, { spentBy: caller.keyId, result: undefined });
    const { decision, comment } = approval;
    const status = approval.status === 'modified' ? ('modified' as const) : ('approved' as const);
    return { request_id, status, decision, comment, ...used };
  },
});

/** The key that asked, one that works the event now, or an admin's. */
async function mayUse(context: WriteContext, { key_id, event_id }: RequestRow): Promise<boolean> {
  const { store, caller } = context;
  if (key_id === caller.keyId || mayCall(caller.scopes, 'admin')) return true;
  const event = event_id === null ? undefined : await store.events.find(event_id);
  return event !== undefined && holdFault(context, event) === null;
}
