import type { Rules } from './rules.ts';

/** A question to people. */
export interface Question {
  readonly kind: 'approval' | 'question' | 'policy';
  readonly options: readonly string[];
  /** The channels that were asked. */
  readonly approvers: readonly string[];
  /** The channels that got a message: the people asked, or those told of the policy's decision. */
  readonly told: readonly string[];
  readonly policyVersion: number;
  readonly rule: string | null;
}

export interface Ending {
  readonly status: string;
  readonly decision: string | null;
  readonly comment: string | null;
  readonly decidedBy: string | null;
  readonly at: number;
}

export interface Choice {
  readonly verb: 'approve' | 'deny' | 'option' | 'answer' | 'needs_context';
  readonly text: string;
}

/** One request as the interface describes it, written down without the code under test. */
export class RequestModel {
  readonly name: string;
  readonly asked: Question;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** The rules that an approved proposal makes the policy, by their name. */
  readonly proposal: PolicyName | null;
  ending: Ending | null = null;
  readonly #rules: Rules;

  constructor(
    rules: Rules,
    given: Pick<RequestModel, 'name' | 'asked' | 'createdAt' | 'expiresAt' | 'proposal'>,
  ) {
    this.#rules = rules;
    this.name = given.name;
    this.asked = given.asked;
    this.createdAt = given.createdAt;
    this.expiresAt = given.expiresAt;
    this.proposal = given.proposal;
  }

  /** Its state; a request that nobody decided in time has expired, recorded or not. */
  at(now: number): Ending {
    if (this.ending) return this.ending;
    const isOver = this.expiresAt + this.#rules.lateMs <= now;
    return { ...NOBODY, status: isOver ? 'expired' : 'pending', at: this.expiresAt };
  }

  /** The effect of a choice: the first one counts, whoever makes it. */
  decide(channel: string, choice: Choice, now: number): 'taken' | 'late' | 'refused' {
    const isLate = this.at(now).status !== 'pending';
    if (isLate && (this.#rules.firstDecisionStands || !this.ending)) return 'late';
    const how = this.#meant(choice);
    if (how === null) return 'refused';
    this.ending = { ...how, decidedBy: `channel:${channel}`, at: now };
    return 'taken';
  }

  isPending(now: number): boolean {
    return this.at(now).status === 'pending';
  }

  withdraw(now: number): void {
    this.ending = { ...NOBODY, status: 'expired', at: now };
  }

  #meant({ verb, text }: Choice): Pick<Ending, 'status' | 'decision' | 'comment'> | null {
    const isQuestion = this.asked.kind === 'question';
    const comment = text === '' ? null : text;
    if (verb === 'answer') {
      if (!isQuestion || text === '') return null;
      return { status: 'answered', decision: text, comment: null };
    }
    if (verb === 'needs_context') {
      return text === '' ? null : { status: 'needs_context', decision: null, comment };
    }
    if (verb === 'option') {
      const [decision] = this.asked.options;
      if (decision === undefined) return null;
      return { status: isQuestion ? 'answered' : 'modified', decision, comment };
    }
    if (isQuestion) return null;
    return { status: verb === 'approve' ? 'approved' : 'denied', decision: null, comment };
  }
}

const NOBODY = { decision: null, comment: null, decidedBy: null };

/** One rule of a policy. */
export interface PolicyRule {
  readonly id: string;
  readonly effect: 'allow' | 'deny' | 'require_approval' | 'auto_approve' | 'auto_approve_notify';
  readonly action?: string;
  readonly amount_lte?: number;
  readonly amount_gt?: number;
  readonly approvers?: readonly string[];
}

/** Documents that the simulator proposes. Channels stand in them by name. */
export const POLICIES = {
  none: [],
  tiers: [
    { id: 'small', effect: 'auto_approve', action: 'pay.*', amount_lte: 100 },
    { id: 'large', effect: 'deny', action: 'pay.*', amount_gt: 1000 },
  ],
  told: [
    { id: 'told', effect: 'auto_approve_notify', action: 'deploy' },
    { id: 'ana', effect: 'require_approval', action: 'pay.*', approvers: ['ana'] },
  ],
  open: [{ id: 'open', effect: 'allow' }],
  // The first rule that matches decides: the second is never reached.
  closed: [
    { id: 'closed', effect: 'deny' },
    { id: 'unreached', effect: 'allow' },
  ],
} as const satisfies Record<string, readonly PolicyRule[]>;

export type PolicyName = keyof typeof POLICIES;

/** The first rule whose conditions all hold; without one, a person decides. */
export function matching(
  rules: Rules,
  policy: PolicyName,
  { action, amount }: { readonly action: string; readonly amount: number | null },
): PolicyRule | null {
  const fits = (rule: PolicyRule): boolean => {
    if (rule.action !== undefined && !isNamed(rule.action, action)) return false;
    const { amount_gt: above, amount_lte: most } = rule;
    if (above === undefined && most === undefined) return true;
    if (amount === null) return false;
    if (above !== undefined && amount <= above) return false;
    return most === undefined || amount < most || (amount === most && rules.amountIncluded);
  };
  return POLICIES[policy].find(fits) ?? null;
}

function isNamed(pattern: string, action: string): boolean {
  if (!pattern.endsWith('*')) return pattern === action;
  return action.startsWith(pattern.slice(0, -1));
}

/** The name of the event that reports a request's end. */
export function endOf(request: string): string {
  return `end of ${request}`;
}
