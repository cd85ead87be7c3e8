import * as z from 'zod';
import { ServiceError } from '../../lib/errors.ts';
import { ACTION_MAX_CHARS, DETAILS_MAX_CHARS, SUMMARY_MAX_CHARS } from '../../lib/limits.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { canonicalJson } from '../../rules/canonical-json.ts';
import { label } from '../fields.ts';
import { askingFields, options, optionalProse } from '../request/fields.ts';
import { judge, openRequest } from '../request/open.ts';
import { requestAnswer, toAnswer } from '../request/record.ts';
import { waitForDecision } from '../request/wait.ts';

export const askApproval = defineOperation({
  name: 'ask_approval',
  summary: 'Ask people to approve an action.',
  description:
    "Go ahead only on approved or modified (decision has the option they chose). The policy may decide at once. pending isn't a denial: save your state and call request_status later. On needs_context, ask again with fuller details. Keep wait_seconds at 45 or below unless your client allows longer calls.",
  scope: 'approvals',
  input: z.strictObject({
    action: label(ACTION_MAX_CHARS).describe(
      'What you want to do, such as `payment.refund`; policies match on it.',
    ),
    summary: label(SUMMARY_MAX_CHARS).describe('One line, shown first.'),
    details: optionalProse(DETAILS_MAX_CHARS).describe(
      'What a person needs to know to decide; required if risk is high.',
    ),
    risk: z.enum(['low', 'medium', 'high']).default('medium').describe('Policies match on it.'),
    amount: z.number().optional().describe('Policies match on it.'),
    options: options.describe('Choices besides approve and deny, up to 5.'),
    ...askingFields,
  }),
  output: requestAnswer,
  errors: [
    'DETAILS_REQUIRED',
    'CHANNEL_NOT_VERIFIED',
    'TOO_MANY_PENDING_REQUESTS',
    'CALLBACK_SECRET_MISSING',
    'CALLBACK_URL_REJECTED',
  ],
  effect: 'write',
  replica: 'upstream',
  rest: { method: 'POST', path: '/v1/requests' },
  mcp: { title: 'Ask for approval', openWorld: true },
  cli: {
    usage: 'ask approval <action> <summary>',
    examples: [
      'ask approval deploy.production "Deploy v2.1 to production" && ./deploy.sh',
      'ask approval payment.refund "Refund order 1042" --amount 129.5 --details @refund.md --risk high',
      'ask approval db.migrate "Add an index to orders" --options "tonight,at the weekend" --until-decided',
    ],
  },
  subject: (_input, output) => output.request_id,
  example: { action: 'deploy.staging', summary: 'Deploy v2.1 to staging', wait_seconds: 0 },
}).write({
  prepare: async ({ callbacks }, { risk, details = '', callback_url }) => {
    if (risk === 'high' && details.trim() === '') throw new ServiceError('DETAILS_REQUIRED');
    if (callback_url !== undefined) await callbacks.check(callback_url);
  },
  commit: async (context, input) => {
    const { action, summary, details, amount, risk, expires_in, wait_seconds: _, ...rest } = input;
    const judgement = await judge(context, {
      tool: 'ask_approval',
      action,
      amount: amount ?? null,
      risk,
      recipientDomains: null,
    });
    const asked = { action, summary, details, amount, risk };
    const subject = canonicalJson({ ...asked, options: rest.options });
    const draft = {
      kind: 'approval',
      subject,
      ...asked,
      expiresInMs: expires_in,
      ...rest,
    } as const;
    const row = await openRequest(context, draft, judgement);
    return toAnswer(row, context.now);
  },
  wait: async (context, { wait_seconds }, { request_id }) =>
    toAnswer(await waitForDecision(context, request_id, wait_seconds), context.now),
});
