import { domainToASCII } from 'node:url';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compilePolicy, decidePolicy } from '../../../../shared/rules/policy/decide.ts';
import type { PolicySubject } from '../../../../shared/rules/policy/subject.ts';
import { parsePolicy, type PolicyRule } from '../../../../shared/rules/policy/document.ts';
import { writtenPolicy, subject as anySubject } from './arbitraries.ts';

const asking: PolicySubject = {
  tool: 'ask_approval',
  action: 'payment.send',
  amount: 100,
  risk: 'medium',
  recipientDomains: null,
};
const linking: PolicySubject = { ...asking, tool: 'file_url', action: null, amount: null };
const mailing = (...recipientDomains: string[]): PolicySubject => ({
  ...linking,
  tool: 'email_send',
  recipientDomains,
});

const at = (amount: number): PolicySubject => ({ ...asking, amount });

/** `effect by rule`, as one text. */
function decide(rules: readonly object[], subject: PolicySubject): string {
  const { effect, rule } = decidePolicy(compilePolicy(parsePolicy({ rules })), subject);
  return `${effect} by ${rule?.id ?? 'nobody'}`;
}

const matches = (condition: object, subject: PolicySubject) =>
  decide([{ effect: 'allow', ...condition }], subject) === 'allow by rule-1';
const stops = (condition: object, subject: PolicySubject) =>
  decide([{ effect: 'deny', ...condition }], subject) === 'deny by rule-1';

describe('decidePolicy', () => {
  it('asks a person where no rule matches', () => {
    expect(decide([], asking)).toBe('require_approval by nobody');
    expect(decide([{ effect: 'allow', action: 'x' }], asking)).toBe('require_approval by nobody');
  });

  it('takes the first rule that matches, in the order of the document', () => {
    const rules = [
      { id: 'small', effect: 'auto_approve', action: 'payment.*', amount_lte: 100 },
      { id: 'middle', effect: 'require_approval', action: 'payment.*', amount_lte: 1000 },
      { id: 'rest', effect: 'deny' },
    ];
    expect(decide(rules, asking)).toBe('auto_approve by small');
    expect(decide(rules, { ...asking, amount: 100.01 })).toBe('require_approval by middle');
    expect(decide(rules, { ...asking, amount: 1000.01 })).toBe('deny by rest');
    expect(decide(rules, { ...asking, amount: null })).toBe('deny by rest');
    expect(decide(rules.toReversed(), asking)).toBe('deny by rest');
  });

  it('matches everything without a condition', () => {
    const rule = { description: 'All.', approvers: [`chn_${'0'.repeat(26)}`] };
    for (const subject of [asking, linking, mailing('a.com'), mailing()]) {
      expect(matches(rule, subject)).toBe(true);
      expect(matches(rule, { ...subject, risk: null })).toBe(true);
    }
  });

  it.each([
    ['payment.send', true],
    ['payment.*', true],
    ['payment.send*', true],
    ['*', true],
    ['payment', false],
    ['payment.*', true],
    ['payment.send.*', false],
    ['Payment.send', false],
    ['.*', false],
  ])('action %s', (action, expected) => {
    expect(matches({ action }, asking)).toBe(expected);
    expect(matches({ action: ['other', action] }, asking)).toBe(expected);
  });

  it('lets steps of amounts meet without a gap', () => {
    expect(matches({ amount_lte: 100 }, at(100))).toBe(true);
    expect(matches({ amount_gt: 100 }, at(100))).toBe(false);
    expect(matches({ amount_gt: 100 }, at(100.5))).toBe(true);
    expect(matches({ amount_gt: 100, amount_lte: 200 }, at(200))).toBe(true);
    expect(matches({ amount_gt: 100, amount_lte: 200 }, at(200.5))).toBe(false);
    expect(matches({ amount_lte: 0 }, at(-0))).toBe(true);
    expect(matches({ amount_lte: 0 }, at(-5))).toBe(false);
    expect(matches({ amount_lte: 5 }, at(-5))).toBe(true);
    expect(matches({ amount_gt: 4 }, at(-5))).toBe(true);
    for (const none of [NaN, Infinity, -Infinity]) {
      expect(matches({ amount_gt: 0 }, at(none))).toBe(false);
      expect(matches({ amount_lte: 0 }, at(none))).toBe(false);
    }
  });

  it('never matches a tool for what is asked by ask_approval, nor an action or amount for a tool', () => {
    expect(matches({ tool: ['file_url', 'email_send'] }, asking)).toBe(false);
    expect(matches({ tool: 'file_url' }, linking)).toBe(true);
    expect(matches({ tool: 'file_url' }, mailing('a.com'))).toBe(false);
    for (const subject of [linking, mailing('a.com')]) {
      const odd = { ...subject, action: 'payment.send', amount: 1 };
      expect(matches({ action: '*' }, odd)).toBe(false);
      expect(matches({ amount_lte: 100 }, odd)).toBe(false);
      expect(matches({ tool: subject.tool, action: '*' }, odd)).toBe(false);
    }
    for (const subject of [asking, linking]) {
      expect(
        stops({ recipient_domains: ['a.com'] }, { ...subject, recipientDomains: ['a.com'] }),
      ).toBe(false);
    }
  });

  it('lets pass when every recipient is at the domains, and stops when any is', () => {
    const ours = { recipient_domains: ['a.com', '*.b.org'] };
    const cases: [string[], boolean, boolean][] = [
      [['a.com'], true, true],
      [['a.com', 'x.b.org', 'a.com'], true, true],
      [['a.com', 'evil.net'], false, true],
      [['evil.net', 'a.com'], false, true],
      [['b.org'], false, false],
      [['A.COM', 'a.com.'], true, true],
      [['', 'a.com'], false, true],
      [[], false, false],
    ];
    for (const [domains, all, any] of cases) {
      const found = [
        'allow',
        'auto_approve',
        'auto_approve_notify',
        'deny',
        'require_approval',
      ].map(
        (effect) => decide([{ effect, ...ours }], mailing(...domains)) === `${effect} by rule-1`,
      );
      expect(found).toEqual([all, all, all, any, any]);
    }
  });

  it('leaves the document as it was, and the verdict is of it', () => {
    const document = parsePolicy({ rules: [{ effect: 'deny', action: '*' }] });
    const before = JSON.stringify(document);
    const policy = compilePolicy(document);
    expect(decidePolicy(policy, asking).rule).toBe(document.rules[0]);
    expect(policy.rules).toBe(document.rules);
    expect(JSON.stringify(document)).toBe(before);
  });
});

/** The rules once more, as plainly as they can be said. */
function matchesPlainly(rule: PolicyRule, call: PolicySubject): boolean {
  return (
    (!rule.tool || rule.tool.some((tool) => tool === call.tool)) &&
    (!rule.risk || rule.risk.some((risk) => risk === call.risk)) &&
    matchesAmount(rule, call) &&
    matchesAction(rule, call) &&
    matchesRecipients(rule, call)
  );
}

function matchesAmount({ amount_gt, amount_lte }: PolicyRule, call: PolicySubject): boolean {
  if (amount_gt === undefined && amount_lte === undefined) return true;
  const { tool, amount } = call;
  if (tool !== 'ask_approval' || amount === null || !Number.isFinite(amount)) return false;
  const above = amount_gt === undefined || Math.abs(amount) > amount_gt;
  return above && (amount_lte === undefined || Math.abs(amount) <= amount_lte);
}

function matchesAction(rule: PolicyRule, { tool, action }: PolicySubject): boolean {
  if (!rule.action) return true;
  if (tool !== 'ask_approval' || action === null) return false;
  return rule.action.some((pattern) =>
    pattern.endsWith('*') ? action.startsWith(pattern.slice(0, -1)) : action === pattern,
  );
}

function matchesRecipients(rule: PolicyRule, { tool, recipientDomains }: PolicySubject): boolean {
  const patterns = rule.recipient_domains;
  if (!patterns) return true;
  if (tool !== 'email_send' || !recipientDomains?.length) return false;
  const reached = recipientDomains.map((given) => {
    const ascii = /^\p{ASCII}*$/u.test(given) ? given.toLowerCase() : domainToASCII(given);
    const domain = ascii.replace(/\.$/, '');
    return patterns.some((pattern) =>
      pattern.startsWith('*.') ? domain.endsWith(pattern.slice(1)) : domain === pattern,
    );
  });
  const stopping = rule.effect === 'deny' || rule.effect === 'require_approval';
  return stopping ? reached.includes(true) : !reached.includes(false);
}

describe('decidePolicy, for random policies and calls', () => {
  it('gives the answer of the first rule that plainly matches', () => {
    let decided = 0;
    fc.assert(
      fc.property(writtenPolicy, anySubject, (written, call) => {
        const document = parsePolicy(written);
        const first = document.rules.find((rule) => matchesPlainly(rule, call)) ?? null;
        const verdict = decidePolicy(compilePolicy(document), call);
        const effect = first?.effect ?? 'require_approval';
        expect(verdict).toEqual({ effect, rule: first, doubt: null });
        if (first !== null) decided += 1;
      }),
      { numRuns: 3000 },
    );
    // Otherwise it would say little.
    expect(decided).toBeGreaterThan(500);
  });

  it('matches no condition on what is missing', () => {
    fc.assert(
      fc.property(writtenPolicy, anySubject, (written, call) => {
        const policy = compilePolicy(parsePolicy(written));
        const bare = { ...call, action: null, amount: null, risk: null, recipientDomains: null };
        const { rule } = decidePolicy(policy, bare);
        const looksAt = Object.keys(rule ?? {}).filter((name) =>
          ['action', 'amount_lte', 'amount_gt', 'risk', 'recipient_domains'].includes(name),
        );
        expect(looksAt).toEqual([]);
      }),
    );
  });
});
