import type { ApprovalContext } from '../../../../shared/kernel/context.ts';
import { pluralize } from '../../../../shared/lib/pluralize.ts';
import { askOwners } from '../../../../shared/operations/member/ask-owners.ts';
import {
  currentPolicy,
  type PolicyProposal,
} from '../../../../shared/operations/policy/proposal.ts';
import { canonicalJson } from '../../../../shared/rules/canonical-json.ts';
import type { Choice } from '../../../../shared/rules/requests/request-state.ts';
import { policyWith, suggestedRuleOf } from '../../../../shared/rules/requests/suggested-rule.ts';
import type { RequestRow } from '../../../../shared/store/tables/people/requests.ts';

/** The policy that a person proposes with their approval; null if they propose none. */
export async function proposalWith(
  { store }: Pick<ApprovalContext, 'store'>,
  request: RequestRow,
  choice: Choice,
): Promise<PolicyProposal | { readonly problem: string } | null> {
  if (choice.verb !== 'approve' || !choice.proposes) return null;
  const rule = suggestedRuleOf(request);
  if (rule === null) return { problem: 'No rule was suggested with it.' };
  const { version, document } = await currentPolicy(store);
  const next = policyWith(document, rule, request);
  if (next === null) return { problem: 'The policy has no room for another rule.' };
  const note = `Suggested with ${request.id}, which a person approved.`;
  return { rules: next.rules, note, baseVersion: version };
}

/** Asks the owners to approve it, in the name of the agent that suggested the rule. */
export async function askToApply(
  context: ApprovalContext,
  { key_id, agent, platform }: RequestRow,
  proposal: PolicyProposal,
): Promise<void> {
  const { rules, baseVersion } = proposal;
  await askOwners(context, {
    kind: 'policy',
    key_id,
    agent,
    platform,
    action: 'policy_set',
    subject: canonicalJson({ rules, base: baseVersion }),
    summary: `Replace policy version ${baseVersion}: ${pluralize(rules.length, 'rule')}`,
    proposal: JSON.stringify(proposal),
    policy_version: baseVersion,
  });
}
