import { AMOUNT_AT, amountFailure, bindFailure, letsPass, rangeOf, type Range } from './bound.ts';
import { toolsOf } from './conditions.ts';
import type { PolicyDocument, PolicyEffect, PolicyRisk, PolicyRule } from './document.ts';
import { comparableDomain } from './domain.ts';
import { PatternIndex } from './pattern-index.ts';
import type { PolicySubject, SubjectTool } from './subject.ts';

export interface PolicyVerdict {
  readonly effect: PolicyEffect;
  /** The rule that decided; null if none did, so a person decides. */
  readonly rule: PolicyRule | null;
  /**
   * The rule that leaves a doubt, if that's why a person decides: one amount meets it while another or none is bound, or
   * it may deny what the call does.
   */
  readonly doubt: PolicyRule | null;
}

/** A document compiled for decisions. Compile it once and keep it. */
export interface CompiledPolicy extends PolicyDocument {
  readonly tests: readonly RuleTest[];
  readonly actions: PatternIndex;
  readonly domains: PatternIndex;
}

/** The conditions of a rule; null or false for those it doesn't have. */
interface RuleTest {
  readonly tools: ReadonlySet<SubjectTool>;
  readonly risks: ReadonlySet<PolicyRisk> | null;
  /** The rule itself, if it looks at the amount or at bound values. */
  readonly values: { readonly rule: PolicyRule; readonly ranges: readonly Range[] } | null;
  readonly hasActions: boolean;
  readonly recipients: 'all' | 'any' | null;
}

/** A subject and what its texts match: each list has 1 at the index of each rule that matches. */
interface SubjectMatches extends Pick<PolicySubject, 'tool' | 'risk'> {
  readonly subject: PolicySubject;
  readonly actions: Uint8Array | null;
  /**
   * One list per distinct domain: `any` has the domains that match some rule; `all` is empty unless every domain does.
   */
  readonly recipients: { readonly all: readonly Uint8Array[]; readonly any: readonly Uint8Array[] };
}

export function compilePolicy(document: PolicyDocument): CompiledPolicy {
  const { rules } = document;
  const actions = new PatternIndex(rules.length, (text, length) => text.slice(0, length));
  const domains = new PatternIndex(rules.length, (text, length) =>
    text.slice(text.length - length),
  );
  for (const [index, { action = [], recipient_domains = [] }] of rules.entries()) {
    for (const pattern of action) {
      const open = pattern.endsWith('*');
      actions.add(index, { fixed: open ? pattern.slice(0, -1) : pattern, open });
    }
    for (const pattern of recipient_domains) {
      const open = pattern.startsWith('*');
      domains.add(index, { fixed: open ? pattern.slice(1) : pattern, open });
    }
  }
  return { rules, tests: rules.map(testOf), actions, domains };
}

/**
 * The effect of the first rule, in document order, whose conditions all hold. If an earlier rule would have let the call
 * pass by one amount while another is bound, no rule lets it pass: a person decides. If nothing was bound where that rule
 * looks, only a rule lets it pass that finds the amount bound elsewhere. Nor does any if an earlier rule may deny it.
 */
export function decidePolicy(policy: CompiledPolicy, subject: PolicySubject): PolicyVerdict {
  const found = find(policy, subject);
  let unsure: PolicyRule | null = null;
  let elsewhere: PolicyRule | null = null;
  for (const [index, rule] of policy.rules.entries()) {
    const test = policy.tests[index];
    const outcome = outcomeOf(test, index, found);
    if (outcome === 'unsure') unsure ??= rule;
    if (outcome === 'elsewhere') elsewhere ??= rule;
    if (outcome !== 'match') continue;
    const isDoubted = unsure !== null || (elsewhere !== null && !looksAtAmount(test));
    if (isDoubted && letsPass(rule.effect)) break;
    return { effect: rule.effect, rule, doubt: null };
  }
  return { effect: 'require_approval', rule: null, doubt: unsure ?? elsewhere };
}

/** Where bound values should hold a call's amount, as JSON pointers: where the rules for such calls look. */
export function amountPlaces(policy: CompiledPolicy, subject: PolicySubject): string[] {
  const found = find(policy, subject);
  const places = policy.tests.flatMap((test, index) =>
    looksAtAmount(test) && concerns(test, index, found)
      ? [policy.rules[index]?.amount_at ?? AMOUNT_AT]
      : [],
  );
  return places.length === 0 ? [AMOUNT_AT] : [...new Set(places)];
}

function testOf(rule: PolicyRule): RuleTest {
  const { amount_gt, amount_lte, bind } = rule;
  const hasValues = (amount_gt ?? amount_lte ?? bind) !== undefined;
  return {
    tools: new Set(toolsOf(rule)),
    risks: rule.risk ? new Set(rule.risk) : null,
    values: hasValues ? { rule, ranges: rangesOf(rule) } : null,
    hasActions: rule.action !== undefined,
    recipients: rule.recipient_domains ? (letsPass(rule.effect) ? 'all' : 'any') : null,
  };
}

function find({ actions, domains }: CompiledPolicy, subject: PolicySubject): SubjectMatches {
  const { tool, action, risk, recipientDomains } = subject;
  const spelled = new Set(recipientDomains?.map(comparableDomain));
  const any = [...spelled].map((domain) => domains.hits(domain)).filter((hits) => hits !== null);
  return {
    tool,
    risk,
    subject,
    actions: action === null ? null : actions.hits(action),
    recipients: { any, all: any.length === spelled.size ? any : [] },
  };
}

/** `unsure` and `elsewhere`: everything else holds; see `amountFailure` and `bindFailure`. */
type Outcome = 'match' | 'unsure' | 'elsewhere' | 'other';

function outcomeOf(test: RuleTest | undefined, rule: number, found: SubjectMatches): Outcome {
  if (test === undefined || !concerns(test, rule, found)) return 'other';
  return test.values === null ? 'match' : outcomeByValues(test.values, found.subject);
}

function looksAtAmount(test: RuleTest | undefined): boolean {
  return (test?.values?.ranges.length ?? 0) > 0;
}

/** Whether a rule's conditions hold, except those on the amount and on bound values. */
function concerns(test: RuleTest, rule: number, found: SubjectMatches): boolean {
  if (!test.tools.has(found.tool)) return false;
  if (test.risks !== null && (found.risk === null || !test.risks.has(found.risk))) return false;
  if (test.hasActions && found.actions?.[rule] !== 1) return false;
  return test.recipients === null || reaches(test.recipients, rule, found);
}

/** Each limit is tested separately, so a rule that stops calls needs no single number within both. */
function rangesOf({ amount_gt: above, amount_lte: most }: PolicyRule): Range[] {
  const ranges = [rangeOf(above, undefined), rangeOf(undefined, most)];
  return ranges.filter((range) => range.above !== null || range.most !== null);
}

function outcomeByValues(
  { rule, ranges }: NonNullable<RuleTest['values']>,
  subject: PolicySubject,
): Outcome {
  const failures = [
    ...Object.entries(rule.bind ?? {}).map(([at, test]) =>
      bindFailure(subject, rule.effect, at, test),
    ),
    ranges.length === 0 ? null : amountFailure(subject, rule, ranges),
  ].filter((failure) => failure !== null);
  const kinds = failures.map(({ kind }) => kind);
  if (kinds.includes('unmet')) return 'other';
  return kinds.find((kind) => kind !== 'unmet') ?? 'match';
}

function reaches(wanted: 'all' | 'any', rule: number, { recipients }: SubjectMatches): boolean {
  const { all, any } = recipients;
  if (wanted === 'any') return any.some((hits) => hits[rule] === 1);
  // A rule must not let a mail pass if its recipients are unknown, so an empty list fails.
  return all.length > 0 && all.every((hits) => hits[rule] === 1);
}
