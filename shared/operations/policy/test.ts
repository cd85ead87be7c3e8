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
    bind: z.unknown().optional().describe('The values it binds.'),
    risk: z.enum(['low', 'medium', 'high']).default('medium').describe('Its risk.'),
    recipient_domains: z.array(label(255)).max(50).optional().describe("The recipients' domains."),
    policy: policyInput.optional(),
  }),
  output: z.object({
    version: z.int().nullable().describe('Null if you passed a document.'),
    effect: z.enum(POLICY_EFFECTS).describe('What would happen.'),
    rule: z
      .string()
      .nullable()
      .describe('The rule that decides; null if none matches, so a person decides.'),
    sentence: z.string().describe('The same in words.'),
    trace: z
      .array(
        z.object({
          rule: z.string().describe('Id of the rule.'),
          effect: z.enum(POLICY_EFFECTS).describe('What it would do.'),
          says: z.string().describe('The rule in words.'),
          matched: z.boolean().describe('Whether its conditions hold.'),
          decides: z.boolean().describe('Whether it is the first that matches.'),
          failed: z
            .array(
              z.object({
                field: z.string().describe('The condition.'),
                wanted: z.string().describe('What it requires.'),
                given: z.string().describe('What the call has.'),
              }),
            )
            .describe('Conditions that do not hold.'),
        }),
      )
      .describe('Each rule in order.'),
  }),
  errors: ['POLICY_INVALID'],
  effect: 'read',
  exact: ['bind'],
  replica: 'local',
  rest: { method: 'POST', path: '/v1/policy/test' },
  mcp: false,
  cli: {
    usage: 'policy test',
    examples: [
      'policy test --action payment.refund --amount 80',
      'policy test --action payment.refund --amount 20 --bind \'{"amount":20,"currency":"EUR"}\'',
      'policy test --tool email_send --recipient-domains example.com --policy @policy.json',
    ],
  },
  example: { action: 'payment.refund', amount: 80 },
}).read(async ({ store }, { tool, action, amount, bind, risk, recipient_domains, policy }) => {
  const current = policy === undefined ? await currentPolicy(store) : null;
  const document = current ? current.document : parsePolicy(policy);
  const { effect, rule, sentence, trace } = explainPolicy(document, {
    tool,
    action: action ?? null,
    amount: amount ?? null,
    ...(bind !== undefined && { bind }),
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
