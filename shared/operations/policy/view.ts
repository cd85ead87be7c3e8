import * as z from 'zod';
import {
  POLICY_ACTION_MAX_CHARS,
  POLICY_DESCRIPTION_MAX_CHARS,
  POLICY_EFFECTS,
  POLICY_RISKS,
  POLICY_TOOLS,
  type PolicyRule,
} from '../../rules/policy/document.ts';
import type { Repositories } from '../../store/repositories.ts';
import { standingPolicy } from './proposal.ts';

/** A rule as it is stored and answered: always with an id, and lists where one value would do. */
const policyRule = z.object({
  id: z.string(),
  effect: z.enum(POLICY_EFFECTS),
  action: z.array(z.string().max(POLICY_ACTION_MAX_CHARS)).optional(),
  tool: z.array(z.enum(POLICY_TOOLS)).optional(),
  amount_lte: z.number().optional(),
  amount_gt: z.number().optional(),
  risk: z.array(z.enum(POLICY_RISKS)).optional(),
  recipient_domains: z.array(z.string()).optional(),
  approvers: z.array(z.string()).optional(),
  description: z.string().max(POLICY_DESCRIPTION_MAX_CHARS).optional(),
});

export const policyView = z.object({
  version: z.int(),
  rules: z.array(policyRule),
  note: z.string().nullable(),
  approved_by: z.string().nullable(),
  approved_at: z.string().nullable(),
});

export async function toPolicyView(store: Repositories): Promise<z.input<typeof policyView>> {
  const { version, document, note, approvedBy, approvedAt } = await standingPolicy(store);
  return {
    version,
    rules: document.rules.map(plainRule),
    note,
    approved_by: approvedBy,
    approved_at: approvedAt,
  };
}

/** A copy whose lists may be changed, as answers are typed. */
function plainRule(rule: PolicyRule): z.input<typeof policyRule> {
  return structuredClone(rule) as z.input<typeof policyRule>;
}

/** A document as it is sent: what is wrong in it is told by POLICY_INVALID, with the path. */
export const policyInput = z
  .record(z.string(), z.unknown())
  .describe('The whole document, `{"rules": […]}`.');
