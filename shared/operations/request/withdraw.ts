import * as z from 'zod';
import { SUMMARY_MAX_CHARS } from '../../lib/limits.ts';
import { notFound, scopeMissing } from '../../lib/errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { mayCall } from '../../lib/scopes.ts';
import { effectiveRequestStatus, REQUEST_STATUSES } from '../../rules/requests/request-state.ts';
import { label } from '../fields.ts';
import { requestId } from './fields.ts';
import { withdraw } from './withdrawal.ts';

export const requestWithdraw = defineOperation({
  name: 'request_withdraw',
  summary: 'Take back a request nobody has decided yet.',
  description:
    "The request ends as expired. If a person decided first, their decision stands, and withdrawn is false. Only an admin key can withdraw another key's request.",
  scope: 'approvals',
  input: z.strictObject({
    request_id: requestId,
    reason: label(SUMMARY_MAX_CHARS).optional().describe('Why; the person sees it.'),
  }),
  output: z.object({
    request_id: z.string().describe('`req_…`.'),
    status: z.enum(REQUEST_STATUSES).describe('How it stands now.'),
    withdrawn: z.boolean().describe('False if it was decided before.'),
    hint: z.string().nullable().describe('Why it ended.'),
  }),
  errors: ['NOT_FOUND'],
  effect: 'write',
  replica: 'upstream',
  rest: { method: 'POST', path: '/v1/requests/{id}/withdraw', params: { id: 'request_id' } },
  mcp: { title: 'Withdraw a request' },
  cli: {
    usage: 'request withdraw <request_id>',
    examples: [
      'request withdraw req_01j9z3k4m5n6p7q8r9s0t1v2w3',
      'request withdraw req_01j9z3k4m5n6p7q8r9s0t1v2w3 --reason "a newer version is ready"',
    ],
  },
  subject: (input) => input.request_id,
  example: { request_id: 'req_01j9z3k4m5n6p7q8r9s0t1v2w3' },
}).write({
  commit: async (context, { request_id, reason = 'the agent took it back.' }) => {
    const { store, caller, now } = context;
    const row = await store.requests.find(request_id);
    if (!row) throw notFound(`request ${request_id}`);
    if (row.key_id !== caller.keyId && !mayCall(caller.scopes, 'admin')) {
      throw scopeMissing('admin');
    }
    const isOpen = effectiveRequestStatus(row, now) === 'pending';
    const withdrawn = isOpen && (await withdraw(context, row, reason));
    const ended = (await store.requests.find(request_id)) ?? row;
    const status = effectiveRequestStatus(ended, now);
    return { request_id, status, withdrawn, hint: ended.hint };
  },
});
