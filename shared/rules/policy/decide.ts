import { toolsOf, wantsAllRecipients } from './conditions.ts';
import type { PolicyDocument, PolicyEffect, PolicyRisk, PolicyRule } from './document.ts';
import { comparableDomain } from './domain.ts';
import { PatternIndex } from './pattern-index.ts';
import type { PolicySubject, SubjectTool } from './subject.ts';

export interface PolicyVerdict {
  readonly effect: PolicyEffect;
  /** The rule that decided, or null when none matched: then a person is asked. */
  readonly rule: PolicyRule | null;
}

/** A document made ready to decide by. Make it once and keep it. */
export interface CompiledPolicy extends PolicyDocument {
  readonly tests: readonly RuleTest[];
  readonly actions: PatternIndex;
  readonly domains: PatternIndex;
}

/** The conditions of a rule; null where it has none. */
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

/** A subject with what its texts were found to match: in each list, 1 at the place of each rule. */
interface Found extends Omit<PolicySubject, 'action' | 'recipientDomains'> {
  readonly actions: Uint8Array | null;
  /** One list for each domain, once: in `any` of those that match some rule, in `all` only if every one does. */
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

/** The answer of the first rule in the order of the document whose conditions all hold. */
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
  return amount !== null && Number.isFinite(amount) && amount > above && amount <= most;
}

function reaches(wanted: 'all' | 'any', rule: number, { recipients }: Found): boolean {
  const { all, any } = recipients;
  if (wanted === 'any') return any.some((hits) => hits[rule] === 1);
  // None at all are not all of them: a rule must not let pass what it knows nothing of.
  return all.length > 0 && all.every((hits) => hits[rule] === 1);
}
