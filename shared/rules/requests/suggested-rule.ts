import { ServiceError } from '../../lib/errors.ts';
import { isObject } from '../../lib/guards.ts';
import { compilePolicy, decidePolicy } from '../policy/decide.ts';
import { letsPass } from '../policy/bound.ts';
import { parsePolicy, type PolicyDocument, type PolicyRule } from '../policy/document.ts';
import type { PolicySubject } from '../policy/subject.ts';
import { newId, withSuggestion } from '../policy/suggest.ts';

const FIELD = 'suggested_rule';

/** A rule that an agent suggests with a call, in normal form. POLICY_INVALID unless it approves that call. */
export function readSuggestedRule(value: unknown, subject: PolicySubject): PolicyRule {
  const document = parsedAlone(value);
  const { rule } = decidePolicy(compilePolicy(document), subject);
  if (rule !== null && letsPass(rule.effect)) return rule;
  throw invalid(FIELD, "It doesn't approve this call.");
}

function parsedAlone(value: unknown): PolicyDocument {
  try {
    return parsePolicy({ rules: [value] });
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const named = (text: unknown) => String(text).replace('rules[0]', FIELD);
    const { details, hint } = error;
    throw new ServiceError('POLICY_INVALID', {
      details: { path: named(details?.['path']) },
      hint: named(hint),
    });
  }
}

function invalid(path: string, problem: string): ServiceError {
  return new ServiceError('POLICY_INVALID', { details: { path }, hint: `${path}: ${problem}` });
}

/** The suggested rule of a request; null if there's none that a person may propose. */
export function suggestedRuleOf({
  kind,
  risk,
  approvals,
  proposal,
}: {
  readonly kind: string;
  readonly risk: string | null;
  readonly approvals: number;
  readonly proposal: string | null;
}): PolicyRule | null {
  if (kind !== 'approval' || proposal === null || risk === 'high' || approvals > 1) return null;
  const value: unknown = JSON.parse(proposal);
  const suggested = isObject(value) ? value['suggested'] : undefined;
  return suggested === undefined ? null : (parsePolicy({ rules: [suggested] }).rules[0] ?? null);
}

/**
 * A policy with the rule in it, under an id of its own, right before the rule that sent its call to people, or else at the
 * end; null if it has no room.
 */
export function policyWith(
  policy: PolicyDocument,
  rule: PolicyRule,
  { action, rule: before }: { readonly action: string | null; readonly rule: string | null },
): PolicyDocument | null {
  const own = { ...rule, id: newId(policy, action ?? 'rule') };
  try {
    return parsePolicy({ rules: withSuggestion(policy.rules, { rule: own, before }) });
  } catch {
    return null;
  }
}
