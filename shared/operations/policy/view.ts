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

const scalar = z.union([z.string(), z.number(), z.boolean()]);

const bindTest = z
  .object({
    in: z.array(scalar).optional().describe('Any of these.'),
    prefix: z.string().optional().describe('A text that begins so.'),
    gt: z.number().optional().describe('More than this, without its sign.'),
    lte: z.number().optional().describe('At most this, without its sign.'),
    command: z
      .array(z.string())
      .optional()
      .describe(
        'A shell line of these commands, `git log *` with any further words: only these for effects that let it pass, one of these for others.',
      ),
    under: z
      .array(z.string())
      .optional()
      .describe('A path in one of these folders. Links are not followed.'),
  })
  .describe('What a bound value must be.');

/** A rule as we store and return it: always with an id, and with lists where callers may write a single value. */
export const policyRule = named(
  'PolicyRule',
  z
    .object({
      id: z.string().describe('Its name in answers and in the ledger.'),
      effect: z.enum(POLICY_EFFECTS).describe('What happens if the rule decides.'),
      action: z
        .array(z.string().max(POLICY_ACTION_MAX_CHARS))
        .optional()
        .describe('Any of these: exact, or a prefix and `*`.'),
      tool: z.array(z.enum(POLICY_TOOLS)).optional().describe('Any of these tools.'),
      amount_lte: z.number().optional().describe('The amount is at most this, without its sign.'),
      amount_gt: z.number().optional().describe('The amount is more than this, without its sign.'),
      amount_at: z
        .string()
        .optional()
        .describe('Where bound values have the amount, as a JSON pointer (default `/amount`).'),
      risk: z.array(z.enum(POLICY_RISKS)).optional().describe('Any of these.'),
      bind: z
        .record(z.string(), bindTest)
        .optional()
        .describe('Tests of bound values, by JSON pointer. A missing value never fits.'),
      recipient_domains: z
        .array(z.string())
        .optional()
        .describe(
          '`example.com`, `*.example.com`: every recipient for effects that let a mail pass, any recipient for others.',
        ),
      approvers: z.array(z.string()).optional().describe('Channels that are asked.'),
      approvals: z.int().optional().describe('How many people must approve.'),
      description: z.string().max(POLICY_DESCRIPTION_MAX_CHARS).optional().describe('For people.'),
    })
    .describe(
      'A rule in normal form: with an id, and lists where callers may write a single value.',
    ),
);

export const policyView = named(
  'Policy',
  z
    .object({
      version: z.int().describe('Rises with each change; 0 means no policy.'),
      rules: z.array(policyRule).describe('The first rule whose conditions all match decides.'),
      note: z.string().nullable().describe('What the agent said about the change.'),
      approved_by: z.string().nullable().describe('The channel that approved it.'),
      approved_at: z.string().nullable().describe('When it came into force.'),
    })
    .describe('The policy in force.'),
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
  id: z.string().optional().describe('Made up if omitted.'),
  effect: z
    .enum(POLICY_EFFECTS)
    .describe(
      '`require_approval`: a person decides. `auto_approve_notify`: approved, and people are told.',
    ),
  action: oneOrMore(z.string()).optional().describe('Exact, or a prefix and `*`.'),
  tool: oneOrMore(z.enum(POLICY_TOOLS))
    .optional()
    .describe('For links and mails, which have no action.'),
  amount_gt: z.number().optional().describe('Without its sign.'),
  amount_lte: z.number().optional().describe('Without its sign.'),
  amount_at: z.string().optional().describe('Default `/amount`.'),
  risk: oneOrMore(z.enum(POLICY_RISKS)).optional().describe('As stated by the agent.'),
  bind: z.looseObject({}).optional().describe('`{"/currency":"EUR","/fee":{"lte":5}}`.'),
  recipient_domains: z.array(z.string()).optional().describe('`example.com`, `*.example.com`.'),
  approvers: z.array(z.string()).optional().describe('Channels to ask.'),
  approvals: z.int().optional().describe('How many must approve.'),
  description: z.string().optional().describe('For people.'),
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
