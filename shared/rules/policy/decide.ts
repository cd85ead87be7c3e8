import { sizeOfAmount, toolsOf, wantsAllRecipients } from './conditions.ts';
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
}

/** The conditions of a rule; null or false for those it doesn't have. */
interface RuleTest {
  readonly tools: ReadonlySet<SubjectTool>;
  readonly risks: ReadonlySet<PolicyRisk> | null;
  readonly amount: AmountRange | null;
  readonly hasActions: boolean;
  readonly recipients: 'all' | 'any' | null;
}

interface AmountRange {
  readonly above: number;
  readonly most: number;
}

/** A subject and what its texts match: each list has 1 at the index of each rule that matches. */
interface Found extends Omit<PolicySubject, 'action' | 'recipientDomains'> {
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

/** The effect of the first rule, in document order, whose conditions all hold. */
export function decidePolicy(policy: CompiledPolicy, subject: PolicySubject): PolicyVerdict {
  const found = find(policy, subject);
  const index = policy.tests.findIndex((test, rule) => holds(test, rule, found));
  const rule = policy.rules[index] ?? null;
  return { effect: rule?.effect ?? 'require_approval', rule };
}

function testOf(rule: PolicyRule): RuleTest {
  const { amount_gt, amount_lte } = rule;
  const hasAmount = amount_gt !== undefined || amount_lte !== undefined;
  return {
    tools: new Set(toolsOf(rule)),
    risks: rule.risk ? new Set(rule.risk) : null,
    amount: hasAmount ? { above: amount_gt ?? -Infinity, most: amount_lte ?? Infinity } : null,
    hasActions: rule.action !== undefined,
    recipients: rule.recipient_domains ? (wantsAllRecipients(rule.effect) ? 'all' : 'any') : null,
  };
}

function find({ actions, domains }: CompiledPolicy, subject: PolicySubject): Found {
  const { tool, action, amount, risk, recipientDomains } = subject;
  const spelled = new Set(recipientDomains?.map(comparableDomain));
  const any = [...spelled].map((domain) => domains.hits(domain)).filter((hits) => hits !== null);
  return {
    tool,
    risk,
    amount,
    actions: action === null ? null : actions.hits(action),
    recipients: { any, all: any.length === spelled.size ? any : [] },
  };
}

function holds(test: RuleTest, rule: number, found: Found): boolean {
  if (!test.tools.has(found.tool)) return false;
  if (test.risks !== null && (found.risk === null || !test.risks.has(found.risk))) return false;
  if (test.amount !== null && !within(test.amount, found.amount)) return false;
  if (test.hasActions && found.actions?.[rule] !== 1) return false;
  return test.recipients === null || reaches(test.recipients, rule, found);
}

function within({ above, most }: AmountRange, amount: number | null): boolean {
  if (amount === null || !Number.isFinite(amount)) return false;
  const size = sizeOfAmount(amount);
  return size > above && size <= most;
}

function reaches(wanted: 'all' | 'any', rule: number, { recipients }: Found): boolean {
  const { all, any } = recipients;
  if (wanted === 'any') return any.some((hits) => hits[rule] === 1);
  // A rule must not let a mail pass if its recipients are unknown, so an empty list fails.
  return all.length > 0 && all.every((hits) => hits[rule] === 1);
}
