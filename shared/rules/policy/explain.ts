import { conditionsOf, type ConditionField } from './conditions.ts';
import type { PolicyVerdict } from './decide.ts';
import type { PolicySubject } from './subject.ts';
import { describeRule } from './diff.ts';
import type { PolicyDocument, PolicyEffect, PolicyRule } from './document.ts';

interface FailedCondition {
  readonly field: ConditionField;
  /** What the rule asks for, such as `amount <= 100`. */
  readonly wanted: string;
  /** What the call has instead, such as `the amount is 250`. */
  readonly given: string;
}

interface RuleTrace {
  readonly rule: string;
  readonly effect: PolicyEffect;
  /** The rule in words. */
  readonly says: string;
  readonly matched: boolean;
  /** True of the first that matched, and of no other. */
  readonly decides: boolean;
  /** Every condition that did not hold; empty when it matched. */
  readonly failed: readonly FailedCondition[];
}

export interface PolicyExplanation extends PolicyVerdict {
  /** The answer and the rule it comes from, in one sentence. */
  readonly sentence: string;
  /** Every rule in the order of the document, also those behind the one that decides. */
  readonly trace: readonly RuleTrace[];
}

/** The verdict and how each rule came out. It tries the rules one by one: for people, not for every call. */
export function explainPolicy(policy: PolicyDocument, subject: PolicySubject): PolicyExplanation {
  const failures = policy.rules.map((rule) => failedOf(rule, subject));
  const deciding = failures.findIndex((failed) => failed.length === 0);
  const rule = policy.rules[deciding] ?? null;
  return {
    effect: rule?.effect ?? 'require_approval',
    rule,
    sentence: rule
      ? `The rule ${rule.id} decides: ${rule.effect}.`
      : 'No rule matches, so a person decides: require_approval.',
    trace: policy.rules.map((each, index) => {
      const failed = failures[index] ?? [];
      return {
        rule: each.id,
        effect: each.effect,
        says: describeRule(each),
        matched: failed.length === 0,
        decides: index === deciding,
        failed,
      };
    }),
  };
}

function failedOf(rule: PolicyRule, subject: PolicySubject): FailedCondition[] {
  return conditionsOf(rule).flatMap(({ field, wanted, failure }) => {
    const given = failure(subject);
    return given === null ? [] : [{ field, wanted, given }];
  });
}
