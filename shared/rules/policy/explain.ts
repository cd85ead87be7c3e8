import { conditionsOf, type ConditionField } from './conditions.ts';
import { compilePolicy, decidePolicy, type PolicyVerdict } from './decide.ts';
import type { PolicySubject } from './subject.ts';
import { describeRule } from './diff.ts';
import type { PolicyDocument, PolicyEffect, PolicyRule } from './document.ts';

interface FailedCondition {
  readonly field: ConditionField;
  /** The rule's requirement, such as `amount <= 100`. */
  readonly wanted: string;
  /** The call's actual value, such as `the amount is 250`. */
  readonly given: string;
}

interface RuleTrace {
  readonly rule: string;
  readonly effect: PolicyEffect;
  /** The rule in words. */
  readonly says: string;
  readonly matched: boolean;
  /** True only for the first rule that matched, and not if an earlier one leaves a doubt. */
  readonly decides: boolean;
  /** Every condition that failed; empty if the rule matched. */
  readonly failed: readonly FailedCondition[];
}

export interface PolicyExplanation extends PolicyVerdict {
  /** The effect and the rule it comes from, in one sentence. */
  readonly sentence: string;
  /** Every rule in document order, including those after the deciding one. */
  readonly trace: readonly RuleTrace[];
}

/**
 * The verdict and the result of each rule. It tests the rules one by one: use it to explain a policy to people, not on
 * every call.
 */
export function explainPolicy(policy: PolicyDocument, subject: PolicySubject): PolicyExplanation {
  const failures = policy.rules.map((rule) => failedOf(rule, subject));
  const verdict = decidePolicy(compilePolicy(policy), subject);
  return {
    ...verdict,
    sentence: sentenceOf(verdict),
    trace: policy.rules.map((each, index) => {
      const failed = failures[index] ?? [];
      return {
        rule: each.id,
        effect: each.effect,
        says: describeRule(each),
        matched: failed.length === 0,
        decides: each === verdict.rule,
        failed,
      };
    }),
  };
}

function sentenceOf({ rule, doubt }: PolicyVerdict): string {
  if (rule) return `The rule ${rule.id} decides: ${rule.effect}${peopleOf(rule)}.`;
  if (doubt === null) return 'No rule matches, so a person decides: require_approval.';
  if (doubt.effect === 'deny') {
    return `The rule ${doubt.id} may deny it, which isn't certain, so no rule approves and a person decides: require_approval.`;
  }
  return `The rule ${doubt.id} fits only one of the amounts, so no rule approves and a person decides: require_approval.`;
}

function peopleOf({ approvals = 1 }: PolicyRule): string {
  return approvals === 1 ? '' : ` by ${approvals} people`;
}

function failedOf(rule: PolicyRule, subject: PolicySubject): FailedCondition[] {
  return conditionsOf(rule).flatMap(({ field, wanted, failure }) => {
    const given = failure(subject);
    return given === null ? [] : [{ field, wanted, given }];
  });
}
