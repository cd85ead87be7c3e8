import { parseExact } from '../../lib/json/exact-json.ts';
import { SUGGESTION_APPROVALS_MIN } from '../../lib/limits.ts';
import { valueAt } from '../../lib/json/json-pointer.ts';
import { pluralize } from '../../lib/pluralize.ts';
import { canonicalJson } from '../canonical-json.ts';
import { withdrawnBecause } from '../requests/request-state.ts';
import { compilePolicy, decidePolicy, type CompiledPolicy } from './decide.ts';
import { isCommandPattern } from './command-line.ts';
import {
  POLICY_ACTION_MAX_CHARS,
  type PolicyDocument,
  type PolicyRisk,
  type PolicyRule,
} from './document.ts';
import { coveringRule } from './shadowed.ts';
import type { PolicySubject } from './subject.ts';

/** A request for an approval that ended without the policy. */
export interface EndedApproval {
  readonly id: string;
  readonly action: string;
  readonly amount: number | null;
  readonly risk: string | null;
  readonly status: string;
  readonly hint: string | null;
  readonly decided_by: string | null;
  readonly approvals: number;
  /** The bound values, as canonical JSON. */
  readonly bind: string | null;
  /** When it was decided or expired; Unix time in milliseconds. */
  readonly ended_at: number;
}

/** A rule, and its place in a policy. */
export interface RulePlacement {
  readonly rule: PolicyRule;
  /** The rule to put it before; null: it goes to the end. */
  readonly before: string | null;
}

export interface RuleSuggestion extends RulePlacement {
  readonly action: string;
  /** All of them, newest first. */
  readonly approved: readonly EndedApproval[];
}

/** For each action that people always approved: the rule that would approve it without them. Most approved first. */
export function suggestRules(
  policy: CompiledPolicy,
  ended: readonly EndedApproval[],
): RuleSuggestion[] {
  const byWhat = new Map<string, EndedApproval[]>();
  for (const each of ended) {
    if (withdrawnBecause(each.hint) !== null) continue;
    const what = canonicalJson([each.action, sameCommand(each) ?? null]);
    const same = byWhat.get(what);
    if (same) same.push(each);
    else byWhat.set(what, [each]);
  }
  return [...byWhat.values()]
    .filter((asked) => asked.length >= SUGGESTION_APPROVALS_MIN && asked.every(isPlain))
    .map((asked) => suggestionOf(policy, asked))
    .filter((suggestion) => suggestion !== null)
    .toSorted((one, other) => other.approved.length - one.approved.length);
}

/** The rule that would approve the same again without people; null if it was no plain approval, or none fits. */
export function ruleForSame(policy: CompiledPolicy, asked: EndedApproval): RulePlacement | null {
  return isPlain(asked) ? suggestionOf(policy, [asked]) : null;
}

/** The rule that would approve mail to these domains without people; null if it has no place in the policy. */
export function ruleForMailTo(
  policy: CompiledPolicy,
  recipientDomains: readonly string[],
): RulePlacement | null {
  const rule: PolicyRule = {
    id: newId(policy, 'email'),
    effect: 'auto_approve_notify',
    tool: ['email_send'],
    recipient_domains: recipientDomains,
  };
  const covering = coveringRule(policy, rule);
  if (isFor(covering)) return null;
  const subject = { tool: 'email_send', action: null, amount: null, risk: 'medium' } as const;
  const now = decidePolicy(policy, { ...subject, recipientDomains });
  const fits = now.effect === 'require_approval' && now.rule === covering;
  return fits ? { rule, before: covering?.id ?? null } : null;
}

/** Whether a rule sends requests to certain people, or to several. */
function isFor(rule: PolicyRule | null): boolean {
  return rule?.approvers !== undefined || (rule?.approvals ?? 1) > 1;
}

/** One person approved it as asked, and it wasn't risky. */
function isPlain({ status, risk, approvals }: EndedApproval): boolean {
  return status === 'approved' && approvals === 1 && (risk === 'low' || risk === 'medium');
}

/** Approvals of the same action and, for a tool of a coding agent, of the same command. */
function suggestionOf(
  policy: CompiledPolicy,
  approved: readonly EndedApproval[],
): RuleSuggestion | null {
  const [first] = approved;
  const bind = first && sameCommand(first);
  if (first === undefined || bind === null) return null;
  const { action } = first;
  const amounts = approved.map(({ amount }) => amount).filter((amount) => amount !== null);
  // A rule can't tell a missing amount from any amount. A `*` at the end would match other actions too.
  if (![0, approved.length].includes(amounts.length) || action.endsWith('*')) return null;
  const isLow = approved.every(({ risk }) => risk === 'low');
  const rule: PolicyRule = {
    id: newId(policy, action),
    effect: 'auto_approve_notify',
    action: [action],
    ...(amounts.length > 0 && {
      amount_lte: amounts.map(Math.abs).reduce((a, b) => Math.max(a, b)),
    }),
    risk: isLow ? ['low'] : ['low', 'medium'],
    ...(bind && { bind }),
  };
  const place = placeOf(policy, rule, approved);
  return place && { action, approved, rule, before: place.before };
}

/** What a coding agent asks before it uses a tool. */
const TOOL_ACTION = /^tool\./;

/**
 * What a rule must test besides the action, because a tool such as a shell does anything: the command of the line. Null
 * if there's no such test; undefined for other actions, which need none.
 */
function sameCommand({ action, bind }: EndedApproval): PolicyRule['bind'] | null | undefined {
  if (!TOOL_ACTION.test(action)) return undefined;
  const line = bind === null ? undefined : valueAt(parseExact(bind), '/command');
  const isPlainLine =
    typeof line === 'string' && line.length <= POLICY_ACTION_MAX_CHARS && isCommandPattern(line);
  return isPlainLine && !line.endsWith(' *') ? { '/command': { command: [line] } } : null;
}

/**
 * Where the rule decides what people approved and changes no other rule's decisions: at the end if no rule decided
 * those requests, or right before the rule that sent them to people if that rule matches all that the new one does.
 * Null if there's no such place, or if the present policy doesn't send them to any one person.
 */
function placeOf(
  policy: CompiledPolicy,
  rule: PolicyRule,
  approved: readonly EndedApproval[],
): { readonly before: string | null } | null {
  const covering = coveringRule(policy, rule);
  if (isFor(covering)) return null;
  const alone = compilePolicy({ rules: [rule] });
  const fits = approved.every((each) => {
    const subject = subjectOf(each);
    const now = decidePolicy(policy, subject);
    // A rule with an amount decides nothing where another amount is bound.
    const isDecided = decidePolicy(alone, subject).rule !== null;
    const isAsked =
      now.effect === 'require_approval' && now.rule === covering && now.doubt === null;
    return isDecided && isAsked;
  });
  return fits ? { before: covering?.id ?? null } : null;
}

function subjectOf({ action, amount, risk, bind }: EndedApproval): PolicySubject {
  return {
    tool: 'ask_approval',
    action,
    amount,
    risk: risk as PolicyRisk,
    recipientDomains: null,
    ...(bind !== null && { bind: parseExact(bind) }),
  };
}

const ID_CHARS_MAX = 50;

/** `auto-pr-merge` for `pr.merge`, with a number if another rule has that id. */
export function newId({ rules }: PolicyDocument, action: string): string {
  const words = action.toLowerCase().match(/[a-z0-9_]+/g) ?? [];
  const id = ['auto', ...words].join('-').slice(0, ID_CHARS_MAX);
  const taken = new Set(rules.map((rule) => rule.id));
  let free = id;
  for (let count = 2; taken.has(free); count += 1) free = `${id}-${count}`;
  return free;
}

/** What people decided: `14 of 14 pr.merge approved by 2 people since 2026-10-24.` */
export function suggestionText({
  action,
  approved,
  by,
  since,
}: {
  readonly action: string;
  readonly approved: number;
  readonly by: number;
  readonly since: string;
}): string {
  const people = pluralize(by, 'person', 'people');
  return `${approved} of ${approved} ${action} approved by ${people} since ${since.slice(0, 10)}.`;
}

/** What a reader of a suggested rule should know before proposing it; null if there's nothing. */
export function suggestionWarning({ amount_lte }: PolicyRule): string | null {
  return amount_lte === undefined
    ? 'No request had an amount, so this rule has no limit for amounts.'
    : null;
}

/** The rules with a suggested one in its place. */
export function withSuggestion(
  rules: readonly PolicyRule[],
  { rule, before }: RulePlacement,
): PolicyRule[] {
  const index = before === null ? -1 : rules.findIndex(({ id }) => id === before);
  return index === -1 ? [...rules, rule] : rules.toSpliced(index, 0, rule);
}
