import { matchesType } from '../inbox/event-type.ts';
import { canonicalJson } from '../canonical-json.ts';
import { AMOUNT_AT, letsPass } from './bound.ts';
import { conditionsOf, toolsOf } from './conditions.ts';
import type { SubjectTool } from './subject.ts';
import type { PolicyDocument, PolicyEffect, PolicyRule } from './document.ts';
import { domainCovers } from './domain.ts';

/** A rule that can never decide. */
export interface IdleRule {
  readonly rule: string;
  /** The earlier rule that covers it, or null if the rule contradicts itself. */
  readonly by: string | null;
  /** The reason and what to do, for the policy's approver. */
  readonly message: string;
}

/** A rule with the tools whose calls it can match, as its conditions determine. */
interface Reach {
  readonly rule: PolicyRule;
  readonly tools: readonly SubjectTool[];
}

/**
 * Rules that can never decide: they contradict themselves, or one earlier rule matches everything they match. The list
 * is certain but not complete: it misses rules that only several earlier rules cover together.
 */
export function shadowedRules({ rules }: PolicyDocument): IdleRule[] {
  const idle: IdleRule[] = [];
  const live: Reach[] = [];
  for (const rule of rules) {
    const reach = { rule, tools: toolsOf(rule) };
    const contradiction = contradictionOf(reach);
    const broader = contradiction === null && live.find((earlier) => covers(earlier, reach));
    if (contradiction !== null) idle.push({ rule: rule.id, by: null, message: contradiction });
    else if (broader) idle.push(shadow(rule, broader.rule));
    else live.push(reach);
  }
  return idle;
}

/** The first rule that matches everything that this rule would match at the end of the document; null if there's none. */
export function coveringRule({ rules }: PolicyDocument, rule: PolicyRule): PolicyRule | null {
  const reach = { rule, tools: toolsOf(rule) };
  return rules.find((each) => covers({ rule: each, tools: toolsOf(each) }, reach)) ?? null;
}

function shadow(rule: PolicyRule, by: PolicyRule): IdleRule {
  const otherwise = rule.effect === by.effect ? '' : `, so the answer is ${by.effect}`;
  const message =
    `${rule.id} (${rule.effect}) never decides: ${by.id} comes first and matches everything it matches${otherwise}. ` +
    `Move ${rule.id} before ${by.id}, or remove it.`;
  return { rule: rule.id, by: by.id, message };
}

/** Why no call can ever match the rule, or null if one can. */
function contradictionOf({ rule, tools }: Reach): string | null {
  const { id, amount_gt, amount_lte } = rule;
  if (amount_gt !== undefined && amount_lte !== undefined && amount_gt >= amount_lte) {
    return `${id} never matches: no amount is both > ${amount_gt} and <= ${amount_lte}.`;
  }
  if (amount_lte !== undefined && amount_lte < 0) {
    return `${id} never matches: amounts count without their sign, so none is <= ${amount_lte}.`;
  }
  if (tools.length > 0) return null;
  const fields = conditionsOf(rule)
    .filter((condition) => condition.field !== 'risk')
    .map(({ field }) => field);
  return (
    `${id} never matches: no call can meet ${fields.join(', ')} together. ` +
    'Only ask_approval has an action, an amount and bound values, only email_send has recipients, and tool is for file_url and email_send.'
  );
}

/** Whether the later rule's conditions imply each condition of the earlier one. */
function covers(earlier: Reach, later: Reach): boolean {
  return (
    later.tools.every((tool) => earlier.tools.includes(tool)) &&
    coversAmounts(earlier.rule, later.rule) &&
    coversBound(earlier.rule, later.rule) &&
    coversList(earlier.rule.risk, later.rule.risk, (broad, narrow) => broad === narrow) &&
    // A broader pattern matches a narrower one as if it were a text: `p*` matches `pay*`.
    coversList(earlier.rule.action, later.rule.action, matchesType) &&
    coversRecipients(earlier.rule, later.rule)
  );
}

/** Whether everything that matches a later value also matches an earlier one. Undefined means no condition. */
function coversList<T>(
  earlier: readonly T[] | undefined,
  later: readonly T[] | undefined,
  includes: (broad: T, narrow: T) => boolean,
): boolean {
  if (earlier === undefined) return true;
  if (later === undefined) return false;
  return later.every((narrow) => earlier.some((broad) => includes(broad, narrow)));
}

function coversAmounts(earlier: PolicyRule, later: PolicyRule): boolean {
  const [broad, narrow] = [amountsOf(earlier), amountsOf(later)];
  if (broad === null) return true;
  if (narrow === null || narrow.above < broad.above || narrow.most > broad.most) return false;
  // A rule that lets calls pass needs the bound amount too, where one that stops them takes either.
  if (letsPass(earlier.effect) && !letsPass(later.effect)) return false;
  if (!letsPass(earlier.effect) && letsPass(later.effect)) return true;
  return (earlier.amount_at ?? AMOUNT_AT) === (later.amount_at ?? AMOUNT_AT);
}

/** The same tests, or some of them. */
function coversBound(earlier: PolicyRule, later: PolicyRule): boolean {
  const { bind: narrow = {} } = later;
  return Object.entries(earlier.bind ?? {}).every(([at, test]) => {
    const same = narrow[at];
    if (same === undefined || canonicalJson(same) !== canonicalJson(test)) return false;
    // Such a test means less for a rule that lets calls pass, and most for one that asks people.
    const isCertain = test.command === undefined && test.under === undefined;
    return isCertain || MEANS[earlier.effect] >= MEANS[later.effect];
  });
}

/** How much a test of a command or a path matches under each effect. */
const MEANS: Readonly<Record<PolicyEffect, number>> = {
  allow: 0,
  auto_approve: 0,
  auto_approve_notify: 0,
  deny: 1,
  require_approval: 2,
};

/** The amounts that a rule matches, without their sign; null if it has no condition on them. */
function amountsOf({ amount_gt, amount_lte }: PolicyRule): { above: number; most: number } | null {
  if (amount_gt === undefined && amount_lte === undefined) return null;
  const least = amount_gt ?? -1;
  return { above: least < 0 ? -1 : least, most: amount_lte ?? Infinity };
}

function coversRecipients(earlier: PolicyRule, later: PolicyRule): boolean {
  const domains = earlier.recipient_domains;
  // The later rule needs one matching recipient; the earlier one needs all of them to match.
  if (domains && letsPass(earlier.effect) && !letsPass(later.effect)) return false;
  return coversList(domains, later.recipient_domains, domainCovers);
}
