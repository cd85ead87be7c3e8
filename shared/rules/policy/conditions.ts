import { matchesType } from '../inbox/event-type.ts';
import { amountFailure, bindFailure, bindText, letsPass, rangeOf, type BindTest } from './bound.ts';
import type { PolicyRule } from './document.ts';
import { comparableDomain, domainMatches } from './domain.ts';
import type { PolicySubject, SubjectTool } from './subject.ts';
import { anyOf, named } from './copy.ts';

/** A description counts any further domains instead of naming them. */
const DOMAINS_NAMED = 5;

export type ConditionField = keyof Omit<
  PolicyRule,
  'id' | 'effect' | 'amount_at' | 'approvers' | 'approvals' | 'description'
>;

/** One condition of a rule, which we test and describe separately. */
interface Condition {
  readonly field: ConditionField;
  /** The requirement in words, to follow `when`. */
  readonly wanted: string;
  /** The tools whose calls have the field that the condition checks. */
  readonly tools: readonly SubjectTool[];
  /** Null if the condition holds; otherwise the call's actual value, in words. */
  readonly failure: (subject: PolicySubject) => string | null;
}

const EVERY_TOOL: readonly SubjectTool[] = ['ask_approval', 'file_url', 'email_send'];
/** Links and mails have no action and no amount. */
const ASKING: readonly SubjectTool[] = ['ask_approval'];
const MAILING: readonly SubjectTool[] = ['email_send'];

/** The conditions of a rule. All must hold; a rule without conditions matches everything. */
export function conditionsOf(rule: PolicyRule): Condition[] {
  const { tool, action, amount_gt, amount_lte, risk, bind, recipient_domains } = rule;
  const found: (Condition | undefined)[] = [
    tool && toolCondition(tool),
    action && actionCondition(action),
    amount_gt === undefined ? undefined : amountCondition(rule, 'amount_gt', `> ${amount_gt}`),
    amount_lte === undefined ? undefined : amountCondition(rule, 'amount_lte', `<= ${amount_lte}`),
    risk && riskCondition(risk),
    ...Object.entries(bind ?? {}).map(([at, test]) => bindCondition(rule, at, test)),
    recipient_domains && domainCondition(recipient_domains, letsPass(rule.effect)),
  ];
  return found.filter((condition) => condition !== undefined);
}

/** The tools whose calls a rule can match; empty if two of its conditions check fields that no call has together. */
export function toolsOf(rule: PolicyRule): SubjectTool[] {
  const conditions = conditionsOf(rule);
  return EVERY_TOOL.filter((tool) => conditions.every(({ tools }) => tools.includes(tool)));
}

function toolCondition(wanted: NonNullable<PolicyRule['tool']>): Condition {
  const tools: readonly SubjectTool[] = wanted;
  return {
    field: 'tool',
    wanted: `tool is ${anyOf(wanted)}`,
    tools,
    failure: ({ tool }) => (tools.includes(tool) ? null : `the tool is ${tool}`),
  };
}

function actionCondition(patterns: readonly string[]): Condition {
  return {
    field: 'action',
    wanted: `action is ${anyOf(patterns)}`,
    tools: ASKING,
    failure: ({ tool, action }) => {
      if (tool !== 'ask_approval') return `${tool} has no action`;
      if (action === null) return 'there is no action';
      const held = patterns.some((pattern) => matchesType(pattern, action));
      return held ? null : `the action is ${named(action)}`;
    },
  };
}

/** Each limit is a condition of its own. */
const OTHER_LIMIT = {
  amount_gt: { amount_lte: undefined },
  amount_lte: { amount_gt: undefined },
};

function amountCondition(
  rule: PolicyRule,
  field: 'amount_gt' | 'amount_lte',
  limit: string,
): Condition {
  const { amount_gt: above, amount_lte: most } = { ...rule, ...OTHER_LIMIT[field] };
  const range = rangeOf(above, most);
  const at = rule.amount_at === undefined ? '' : `, bound at ${named(rule.amount_at)},`;
  return {
    field,
    wanted: `amount${at} ${limit}`,
    tools: ASKING,
    failure: (subject) => {
      if (subject.tool !== 'ask_approval') return `${subject.tool} has no amount`;
      return amountFailure(subject, rule, [range])?.given ?? null;
    },
  };
}

function bindCondition({ effect }: PolicyRule, at: string, test: BindTest): Condition {
  return {
    field: 'bind',
    wanted: bindText(at, test),
    tools: ASKING,
    failure: (subject) => {
      if (subject.tool !== 'ask_approval') return `${subject.tool} binds nothing`;
      return bindFailure(subject, effect, at, test)?.given ?? null;
    },
  };
}

function riskCondition(wanted: NonNullable<PolicyRule['risk']>): Condition {
  return {
    field: 'risk',
    wanted: `risk is ${anyOf(wanted)}`,
    tools: EVERY_TOOL,
    failure: ({ risk }) => {
      if (risk === null) return 'there is no risk';
      return wanted.includes(risk) ? null : `the risk is ${risk}`;
    },
  };
}

function domainCondition(patterns: readonly string[], all: boolean): Condition {
  const matches = (domain: string): boolean =>
    patterns.some((pattern) => domainMatches(pattern, comparableDomain(domain)));
  return {
    field: 'recipient_domains',
    wanted: `${all ? 'every' : 'any'} recipient is at ${anyOf(patterns)}`,
    tools: MAILING,
    failure: ({ tool, recipientDomains }) => {
      if (tool !== 'email_send') return `${tool} has no recipients`;
      const domains = [...new Set(recipientDomains)];
      if (domains.length === 0) return 'there are no recipients';
      const outside = domains.filter((domain) => !matches(domain));
      if (all ? outside.length === 0 : outside.length < domains.length) return null;
      return `${all ? 'some are' : 'all are'} at ${listed(outside)}`;
    },
  };
}

function listed(domains: readonly string[]): string {
  const shown = domains.slice(0, DOMAINS_NAMED).map(named).join(', ');
  const more = domains.length - DOMAINS_NAMED;
  return more > 0 ? `${shown} and ${more} more` : shown;
}
