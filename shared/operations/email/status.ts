import * as z from 'zod';
import { ServiceError } from '../../lib/errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { batchView, toBatchView } from './view.ts';

export const emailStatus = defineOperation({
  name: 'email_status',
  summary: 'Check the messages of one email_send call.',
  description:
    "When no message is left to try, the status is `sent`, or `failed` if none went out. Each message shows if it was sent, failed or bounced, or why it's being retried.",
  scope: 'send',
  input: z.strictObject({
    batch_id: z
      .string()
      .regex(/^bat_[0-9a-z]{26}$/, 'Expected a batch id such as `bat_01j…`.')
      .describe('The batch_id from email_send.'),
  }),
  output: batchView.extend({
    subject: z.string().describe('As it was sent.'),
    from: z.string().describe("The project's address."),
    created_at: z.string().describe('When it was sent or asked for.'),
  }),
  errors: ['NOT_FOUND'],
  effect: 'read',
  replica: 'local',
  rest: { method: 'GET', path: '/v1/emails/{batch_id}' },
  mcp: { title: 'Check sent mail', openWorld: true, untrusted: 'messages' },
  cli: {
    usage: 'email status <batch_id>',
    examples: ['email status bat_01j9z3k4m5n6p7q8r9s0t1v2w3'],
  },
  example: { batch_id: 'bat_01j9z3k4m5n6p7q8r9s0t1v2w3' },
}).read(async ({ store, now }, { batch_id }) => {
  const batch = await store.emails.findBatch(batch_id);
  if (!batch) {
    throw new ServiceError('NOT_FOUND', {
      hint: `No batch ${batch_id} in this project. Find the batch_id in the answer of email_send, or in an email.failed or email.bounced event.`,
    });
  }
  const { subject, sender, created_at } = batch;
  return { ...(await toBatchView(store, batch, now)), subject, from: sender, created_at };
});
