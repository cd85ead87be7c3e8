import * as z from 'zod';
import { defineOperation } from '../../kernel/operation.ts';
import { diffPolicies } from '../../rules/policy/diff.ts';
import { parsePolicy } from '../../rules/policy/document.ts';
import { shadowedRules } from '../../rules/policy/shadowed.ts';
import { currentPolicy } from './proposal.ts';
import { policyInput } from './view.ts';

export const policyDiff = defineOperation({
  name: 'policy_diff',
  summary: 'Preview what a policy would change.',
  description:
    'Checks a document and compares it with the current policy. Returns the diff people see and the rules that can never match.',
  scope: 'approvals',
  input: z.strictObject({ policy: policyInput }),
  output: z.object({
    version: z.int().describe('The version compared with.'),
    changed: z.boolean().describe('False if nothing would change.'),
    lines: z.array(z.string()).describe('`+ …` added, `- …` removed, `  …` unchanged.'),
    warnings: z
      .array(
        z.object({
          rule: z.string().describe('Id of the rule.'),
          message: z.string().describe('What is wrong with it.'),
        }),
      )
      .describe('Rules that can never decide, and the like.'),
  }),
  errors: ['POLICY_INVALID'],
  effect: 'read',
  replica: 'local',
  rest: { method: 'POST', path: '/v1/policy/diff' },
  mcp: false,
  cli: { usage: 'policy diff <policy>', examples: ['policy diff @policy.json'] },
  example: { policy: { rules: [] } },
}).read(async ({ store }, { policy }) => {
  const after = parsePolicy(policy);
  const { version, document } = await currentPolicy(store);
  const lines = diffPolicies(document, after);
  return {
    version,
    changed: lines.some((line) => !line.startsWith('  ')),
    lines,
    warnings: shadowedRules(after).map(({ rule, message }) => ({ rule, message })),
  };
});
