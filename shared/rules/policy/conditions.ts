import { matchesType } from '../event-type.ts';
import type { PolicyEffect, PolicyRule } from './document.ts';
import { comparableDomain, domainMatches } from './domain.ts';
import type { PolicySubject, SubjectTool } from './subject.ts';
import { anyOf, named } from './copy.ts';

/** A description counts any further domains instead of naming them. */
const DOMAINS_NAMED = 5;

export type ConditionField = keyof Omit<
  PolicyRule,
  'id' | 'effect' | 'approvers' | 'approvals' | 'description'
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

/**
 * Whether a rule with this effect needs all recipients at its domains, rather than any one. An effect that lets a mail
 * pass applies to all recipients; an effect that stops it must apply if a single one matches.
 */
export function wantsAllRecipients(effect: PolicyEffect): boolean {
  return effect !== 'deny' && effect !== 'require_approval';
}

/** The conditions of a rule. All must hold; a rule without conditions matches everything. */
export function conditionsOf(rule: PolicyRule): Condition[] {
  const { tool, action, amount_gt, amount_lte, risk, recipient_domains } = rule;
  const found: (Condition | undefined)[] = [
    tool && toolCondition(tool),
    action && actionCondition(action),
    amount_gt === undefined
      ? undefined
      : amountCondition('amount_gt', `amount > ${amount_gt}`, (amount) => amount > amount_gt),
    amount_lte === undefined
      ? undefined
      : amountCondition('amount_lte', `amount <= ${amount_lte}`, (amount) => amount <= amount_lte),
    risk && riskCondition(risk),
    recipient_domains && domainCondition(recipient_domains, wantsAllRecipients(rule.effect)),
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

/** Policies compare amounts without their sign, or a rule for small amounts would let a large negative one pass. */
export function sizeOfAmount(amount: number): number {
  return Math.abs(amount);
}

function amountCondition(
  field: 'amount_gt' | 'amount_lte',
  wanted: string,
  holds: (amount: number) => boolean,
): Condition {
  return {
    field,
    wanted,
    tools: ASKING,
    failure: ({ tool, amount }) => {
      if (tool !== 'ask_approval') return `${tool} has no amount`;
      if (amount === null || !Number.isFinite(amount)) return 'there is no amount';
      return holds(sizeOfAmount(amount)) ? null : `the amount is ${amount}`;
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
