import * as z from 'zod';
import { ServiceError } from '../../lib/errors.ts';
import { ACTION_MAX_CHARS, DETAILS_MAX_CHARS, SUMMARY_MAX_CHARS } from '../../lib/limits.ts';
import { parseExact } from '../../lib/exact-json.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { LEASE_ERRORS } from '../inbox/move.ts';
import { canonicalJson } from '../../rules/canonical-json.ts';
import { label } from '../fields.ts';
import { warningsAsText } from '../json-as-text.ts';
import {
  addresseesOf,
  approvals,
  askingFields,
  boundValues,
  options,
  optionalProse,
} from '../request/fields.ts';
import { judge } from '../request/open.ts';
import { answerInTime, askAnswer, askQuestion, eventFields } from '../request/question.ts';

export const askApproval = defineOperation({
  name: 'ask_approval',
  summary: 'Ask people to approve an action.',
  description:
    "Go ahead only on approved or modified (decision has the option they chose). The policy may decide at once. pending isn't a denial: save your state and call request_status later. On needs_context, ask again with fuller details. Keep wait_seconds at 45 or below unless your client allows longer calls.",
  scope: 'approvals',
  input: z.strictObject({
    action: label(ACTION_MAX_CHARS).describe(
      'A name such as `payment.refund`; policies match on it.',
    ),
    summary: label(SUMMARY_MAX_CHARS).describe('One line, shown first.'),
    details: optionalProse(DETAILS_MAX_CHARS).describe(
      'What people need to know; required if risk is high.',
    ),
    risk: z.enum(['low', 'medium', 'high']).default('medium').describe('Policies match on it.'),
    amount: z.number().optional().describe('Policies match on it. Bind it as `/amount`.'),
    options: options.describe('Choices besides approve and deny.'),
    bind: boundValues,
    ...askingFields,
    approvals,
    ...eventFields,
  }),
  output: askAnswer,
  errors: [
    ...LEASE_ERRORS,
    'DETAILS_REQUIRED',
    'CHANNEL_NOT_VERIFIED',
    'TOO_MANY_PENDING_REQUESTS',
    'CALLBACK_SECRET_MISSING',
    'CALLBACK_URL_REJECTED',
  ],
  effect: 'write',
  exact: ['bind', 'state'],
  replica: 'upstream',
  rest: { method: 'POST', path: '/v1/requests' },
  mcp: { title: 'Ask for approval', openWorld: true, asks: 'once' },
  cli: {
    usage: 'ask approval <action> <summary>',
    flags: { event_id: 'event' },
    examples: [
      'ask approval deploy.production "Deploy v2.1 to production" && ./deploy.sh',
      'ask approval payment.refund "Refund order 1042" --amount 129.5 --details @refund.md --risk high',
      'ask approval db.drop "Drop the table orders_old" --approvals 2',
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
  commit: (context, input) => {
    const { action, summary, details, amount, risk, bind, options: choices } = input;
    const asked = { action, summary, details, amount, risk };
    const draft = {
      kind: 'approval',
      subject: canonicalJson({ ...asked, options: choices, bind }),
      ...asked,
      bind,
      options: choices,
      approvals: input.approvals,
      ...addresseesOf(input),
    } as const;
    return askQuestion(context, input, draft, () =>
      judge(context, {
        tool: 'ask_approval',
        action,
        amount: amount ?? null,
        ...(bind !== undefined && { bind: parseExact(bind) }),
        risk,
        recipientDomains: null,
      }),
    );
  },
  wait: async (context, input, asked) => ({
    ...(await answerInTime(context, input, asked)),
    ...warningsAsText({ bind: input.bind, state: input.state }),
  }),
});
