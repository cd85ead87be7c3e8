import * as z from 'zod';
import { ACTION_MAX_CHARS } from '../../lib/limits.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { parsePolicy, POLICY_EFFECTS } from '../../rules/policy/document.ts';
import { explainPolicy } from '../../rules/policy/explain.ts';
import { label } from '../fields.ts';
import { currentPolicy } from './proposal.ts';
import { policyInput } from './view.ts';

export const policyTest = defineOperation({
  name: 'policy_test',
  summary: 'See what the policy would decide and why.',
  description:
    'Tests every rule against a sample call and names the rule that decides. Pass policy to test that document instead of the current one.',
  scope: 'approvals',
  input: z.strictObject({
    tool: z
      .enum(['ask_approval', 'file_url', 'email_send'])
      .default('ask_approval')
      .describe('The sample call.'),
    action: label(ACTION_MAX_CHARS).optional().describe('Its action, such as `payment.refund`.'),
    amount: z.number().optional().describe('Its amount.'),
    risk: z.enum(['low', 'medium', 'high']).default('medium').describe('Its risk.'),
    recipient_domains: z.array(label(255)).max(50).optional().describe("The recipients' domains."),
    policy: policyInput.optional(),
  }),
  output: z.object({
    version: z.int().nullable().describe('Null if you passed a document.'),
    effect: z.enum(POLICY_EFFECTS),
    rule: z.string().nullable(),
    sentence: z.string(),
    trace: z.array(
      z.object({
        rule: z.string(),
        effect: z.enum(POLICY_EFFECTS),
        says: z.string(),
        matched: z.boolean(),
        decides: z.boolean(),
        failed: z.array(z.object({ field: z.string(), wanted: z.string(), given: z.string() })),
      }),
    ),
  }),
  errors: ['POLICY_INVALID'],
  effect: 'read',
  replica: 'local',
  rest: { method: 'POST', path: '/v1/policy/test' },
  mcp: false,
  cli: {
    usage: 'policy test',
    examples: [
      'policy test --action payment.refund --amount 80',
      'policy test --tool email_send --recipient-domains example.com --policy @policy.json',
    ],
  },
  example: { action: 'payment.refund', amount: 80 },
}).read(async ({ store }, { tool, action, amount, risk, recipient_domains, policy }) => {
  const current = policy === undefined ? await currentPolicy(store) : null;
  const document = current ? current.document : parsePolicy(policy);
  const { effect, rule, sentence, trace } = explainPolicy(document, {
    tool,
    action: action ?? null,
    amount: amount ?? null,
    risk,
    recipientDomains: recipient_domains ?? null,
  });
  return {
    version: current?.version ?? null,
    effect,
    rule: rule?.id ?? null,
    sentence,
    trace: trace.map((step) => ({ ...step, failed: step.failed.map((one) => ({ ...one })) })),
  };
});
