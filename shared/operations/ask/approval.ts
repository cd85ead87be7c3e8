import * as z from 'zod';
import { ServiceError } from '../../lib/errors.ts';
import {
  ACTION_MAX_CHARS,
  DETAILS_MAX_CHARS,
  SUMMARY_MAX_CHARS,
  THREAD_MAX_CHARS,
} from '../../lib/limits.ts';
import { parseExact } from '../../lib/json/exact-json.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { LEASE_ERRORS } from '../inbox/move.ts';
import { canonicalJson } from '../../rules/canonical-json.ts';
import type { PolicyRisk } from '../../rules/policy/document.ts';
import type { PolicySubject } from '../../rules/policy/subject.ts';
import { readSuggestedRule } from '../../rules/requests/suggested-rule.ts';
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
import { judgeInThread } from '../request/lasting.ts';
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
    thread: label(THREAD_MAX_CHARS)
      .optional()
      .describe('What it belongs to, such as a session: people see its requests together.'),
    suggested_rule: z
      .unknown()
      .optional()
      .describe('A policy rule that would approve this from now on: people may propose it.'),
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
    'POLICY_INVALID',
  ],
  effect: 'write',
  exact: ['bind', 'state'],
  replica: 'upstream',
  rest: { method: 'POST', path: '/v1/requests' },
  mcp: {
    title: 'Ask for approval',
    openWorld: true,
    asks: 'once',
    without: ['thread', 'suggested_rule'],
  },
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
  prepare: async ({ callbacks }, input) => {
    const { risk, details = '', callback_url, suggested_rule: suggested } = input;
    if (risk === 'high' && details.trim() === '') throw new ServiceError('DETAILS_REQUIRED');
    if (callback_url !== undefined) await callbacks.check(callback_url);
    return {
      suggested: suggested === undefined ? null : readSuggestedRule(suggested, subjectOf(input)),
    };
  },
  commit: (context, input, { suggested }) => {
    const { action, summary, details, amount, risk, bind, options: choices, thread } = input;
    const asked = { action, summary, details, amount, risk };
    const draft = {
      kind: 'approval',
      subject: canonicalJson({ ...asked, options: choices, bind }),
      ...asked,
      bind,
      options: choices,
      approvals: input.approvals,
      thread,
      ...(suggested !== null && { proposal: { suggested } }),
      ...addresseesOf(input),
    } as const;
    return askQuestion(context, input, draft, () =>
      judgeInThread(context, subjectOf(input), { thread, isAnyones: isAnyones(input) }),
    );
  },
  wait: async (context, input, asked) => ({
    ...(await answerInTime(context, input, asked)),
    ...warningsAsText({ bind: input.bind, state: input.state }),
  }),
});

function subjectOf({
  action,
  amount,
  bind,
  risk,
}: {
  readonly action: string;
  readonly amount?: number | undefined;
  readonly bind?: string | undefined;
  readonly risk: PolicyRisk;
}): PolicySubject {
  return {
    tool: 'ask_approval',
    action,
    amount: amount ?? null,
    ...(bind !== undefined && { bind: parseExact(bind) }),
    risk,
    recipientDomains: null,
  };
}

/** Whether any one of the people who are asked by default may approve it. */
function isAnyones({
  approvals: needed,
  approvers,
  then: later,
}: {
  readonly approvals: number;
  readonly approvers?: readonly string[] | undefined;
  readonly then?: readonly string[] | undefined;
}): boolean {
  return needed === 1 && approvers === undefined && later === undefined;
}
