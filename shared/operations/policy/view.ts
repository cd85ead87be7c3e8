import * as z from 'zod';
import { named } from '../../kernel/schema-names.ts';
import {
  POLICY_ACTION_MAX_CHARS,
  POLICY_DESCRIPTION_MAX_CHARS,
  POLICY_EFFECTS,
  POLICY_RISKS,
  POLICY_TOOLS,
  type PolicyRule,
} from '../../rules/policy/document.ts';
import type { Repositories } from '../../store/repositories.ts';
import { currentPolicy } from './proposal.ts';

/** A rule as we store and return it: always with an id, and with lists where callers may write a single value. */
export const policyRule = named(
  'PolicyRule',
  z.object({
    id: z.string(),
    effect: z.enum(POLICY_EFFECTS),
    action: z.array(z.string().max(POLICY_ACTION_MAX_CHARS)).optional(),
    tool: z.array(z.enum(POLICY_TOOLS)).optional(),
    amount_lte: z.number().optional(),
    amount_gt: z.number().optional(),
    risk: z.array(z.enum(POLICY_RISKS)).optional(),
    recipient_domains: z.array(z.string()).optional(),
    approvers: z.array(z.string()).optional(),
    approvals: z.int().optional(),
    description: z.string().max(POLICY_DESCRIPTION_MAX_CHARS).optional(),
  }),
);

export const policyView = named(
  'Policy',
  z.object({
    version: z.int(),
    rules: z.array(policyRule),
    note: z.string().nullable(),
    approved_by: z.string().nullable(),
    approved_at: z.string().nullable(),
  }),
);

export async function toPolicyView(store: Repositories): Promise<z.input<typeof policyView>> {
  const { version, document, note, approvedBy, approvedAt } = await currentPolicy(store);
  return {
    version,
    rules: document.rules.map(plainRule),
    note,
    approved_by: approvedBy,
    approved_at: approvedAt,
  };
}

/** A copy with mutable lists, as the output type wants it. */
export function plainRule(rule: PolicyRule): z.input<typeof policyRule> {
  return structuredClone(rule) as z.input<typeof policyRule>;
}

function oneOrMore<T extends z.ZodType>(item: T) {
  return z.union([item, z.array(z.string())]);
}

const ruleInput = z.strictObject({
  id: z.string().optional(),
  effect: z.enum(POLICY_EFFECTS),
  action: oneOrMore(z.string()).optional().describe('Exact, or a prefix and `*`.'),
  tool: oneOrMore(z.enum(POLICY_TOOLS)).optional(),
  amount_gt: z.number().optional(),
  amount_lte: z.number().optional().describe('Without its sign.'),
  risk: oneOrMore(z.enum(POLICY_RISKS)).optional(),
  recipient_domains: z.array(z.string()).optional().describe('`example.com`, `*.example.com`.'),
  approvers: z.array(z.string()).optional().describe('Channels to ask.'),
  approvals: z.int().optional(),
  description: z.string().optional(),
});

/** For documentation only. Input isn't checked against it, so that POLICY_INVALID can name the path of a mistake. */
const { $schema: _dialect, ...DOCUMENT_SCHEMA } = z.toJSONSchema(
  z.strictObject({
    rules: z
      .array(ruleInput)
      .describe(
        'The first rule whose conditions all match decides; a rule without conditions matches everything.',
      ),
  }),
);

/** A document as callers send it. */
export const policyInput = named(
  'PolicyDocument',
  z
    .custom<unknown>((value) => value !== undefined)
    .meta({ ...DOCUMENT_SCHEMA, description: 'The whole document, `{"rules": […]}`.' }),
);
