import * as z from 'zod';
import { ServiceError } from '../../lib/errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { batchView, toBatchView } from './view.ts';

export const emailStatus = defineOperation({
  name: 'email_status',
  summary: 'What became of the messages of one email_send call.',
  description:
    'Once no message is left to be tried the status is `sent`, or `failed` where none went out; each message says for itself whether it was sent, failed or bounced. One that is tried again says why.',
  scope: 'send',
  input: z.strictObject({
    batch_id: z
      .string()
      .regex(/^bat_[0-9a-z]{26}$/, 'Expected a batch id such as `bat_01j…`.')
      .describe('The batch_id that email_send gave.'),
  }),
  output: batchView.extend({ subject: z.string(), from: z.string(), created_at: z.string() }),
  errors: ['NOT_FOUND'],
  effect: 'read',
  replica: 'local',
  rest: { method: 'GET', path: '/v1/emails/{batch_id}' },
  mcp: false,
  cli: {
    usage: 'email status <batch_id>',
    examples: ['email status bat_01j9z3k4m5n6p7q8r9s0t1v2w3'],
  },
  example: { batch_id: 'bat_01j9z3k4m5n6p7q8r9s0t1v2w3' },
}).read(async ({ store, now }, { batch_id }) => {
  const batch = await store.emails.findBatch(batch_id);
  if (!batch) {
    throw new ServiceError('NOT_FOUND', {
      hint: `No batch ${batch_id} in this project. The batch_id is in the answer of email_send, and in what email.failed and email.bounced tell.`,
    });
  }
  const { subject, sender, created_at } = batch;
  return { ...(await toBatchView(store, batch, now)), subject, from: sender, created_at };
});
