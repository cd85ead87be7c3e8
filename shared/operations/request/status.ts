import * as z from 'zod';
import { notFound } from '../../lib/errors.ts';
import { withoutForeignNames } from '../../kernel/disk-limit.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { requestId } from './fields.ts';
import { requestRecord, toRecord } from './record.ts';

export const requestStatus = defineOperation({
  name: 'request_status',
  summary: "Check a request's status.",
  description:
    "Returns the whole request without waiting. Go ahead only on approved, modified (a person picked an option) or answered; pending isn't a denial.",
  scope: 'approvals',
  input: z.strictObject({ request_id: requestId }),
  output: requestRecord,
  errors: ['NOT_FOUND'],
  effect: 'read',
  replica: 'local',
  rest: { method: 'GET', path: '/v1/requests/{id}', params: { id: 'request_id' } },
  mcp: { title: 'See how a request stands', openWorld: true },
  cli: {
    usage: 'request status <request_id>',
    examples: [
      'request status req_01j9z3k4m5n6p7q8r9s0t1v2w3',
      'request status req_01j9z3k4m5n6p7q8r9s0t1v2w3 && ./deploy.sh',
    ],
  },
  example: { request_id: 'req_01j9z3k4m5n6p7q8r9s0t1v2w3' },
}).read(async ({ caller, store, now }, { request_id }) => {
  const row = await store.requests.find(request_id);
  if (!row) throw notFound(`request ${request_id}`);
  return withoutForeignNames(await toRecord(store, row, now), caller);
});
