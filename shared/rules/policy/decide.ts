import {
  AMOUNT_AT,
  amountsOf,
  bindFailure,
  isWithin,
  letsPass,
  rangeOf,
  type Range,
} from './bound.ts';
import { toolsOf } from './conditions.ts';
import type { PolicyDocument, PolicyEffect, PolicyRisk, PolicyRule } from './document.ts';
import { comparableDomain } from './domain.ts';
import { PatternIndex } from './pattern-index.ts';
import type { PolicySubject, SubjectTool } from './subject.ts';

export interface PolicyVerdict {
  readonly effect: PolicyEffect;
  /** The rule that decided, or null if none matched; then a person decides. */
  readonly rule: PolicyRule | null;
}

/** A document compiled for decisions. Compile it once and keep it. */
export interface CompiledPolicy extends PolicyDocument {
  readonly tests: readonly RuleTest[];
  readonly actions: PatternIndex;
  readonly domains: PatternIndex;
  /** Where bound values may have the amount, as JSON pointers. */
  readonly amountPlaces: readonly string[];
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
interface Found extends Pick<PolicySubject, 'tool' | 'risk'> {
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
  const places = rules.flatMap(({ amount_at: at }) => (at === undefined ? [] : [at]));
  const amountPlaces = [...new Set([AMOUNT_AT, ...places])];
  return { rules, tests: rules.map(testOf), actions, domains, amountPlaces };
}

/** The effect of the first rule, in document order, whose conditions all hold. */
export function decidePolicy(policy: CompiledPolicy, subject: PolicySubject): PolicyVerdict {
  const found = find(policy, subject);
  const index = policy.tests.findIndex((test, rule) => holds(test, rule, found));
  const rule = policy.rules[index] ?? null;
  return { effect: rule?.effect ?? 'require_approval', rule };
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

function find({ actions, domains }: CompiledPolicy, subject: PolicySubject): Found {
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

function holds(test: RuleTest, rule: number, found: Found): boolean {
  if (!test.tools.has(found.tool)) return false;
  if (test.risks !== null && (found.risk === null || !test.risks.has(found.risk))) return false;
  if (test.hasActions && found.actions?.[rule] !== 1) return false;
  if (test.values !== null && !meets(test.values, found.subject)) return false;
  return test.recipients === null || reaches(test.recipients, rule, found);
}

/** Each limit is met by itself, so that a rule that stops calls needs no single number within both. */
function rangesOf({ amount_gt: above, amount_lte: most }: PolicyRule): Range[] {
  const ranges = [rangeOf(above, undefined), rangeOf(undefined, most)];
  return ranges.filter((range) => range.above !== null || range.most !== null);
}

function meets({ rule, ranges }: NonNullable<RuleTest['values']>, subject: PolicySubject): boolean {
  const { bind = {} } = rule;
  if (ranges.length > 0) {
    const found = amountsOf(subject, rule);
    if ('problem' in found) return false;
    const { numbers } = found;
    if (!ranges.every((range) => numbers.some((number) => isWithin(number, range)))) return false;
  }
  return Object.entries(bind).every(([at, test]) => bindFailure(subject.bind, at, test) === null);
}

function reaches(wanted: 'all' | 'any', rule: number, { recipients }: Found): boolean {
  const { all, any } = recipients;
  if (wanted === 'any') return any.some((hits) => hits[rule] === 1);
  // A rule must not let a mail pass if its recipients are unknown, so an empty list fails.
  return all.length > 0 && all.every((hits) => hits[rule] === 1);
}
