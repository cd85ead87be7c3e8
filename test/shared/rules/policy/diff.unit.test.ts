import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describeRule, diffPolicies } from '../../../../shared/rules/policy/diff.ts';
import { parsePolicy, type PolicyRule } from '../../../../shared/rules/policy/document.ts';
import { writtenPolicy } from './arbitraries.ts';

const CHANNEL = 'chn_01jabcdefghjkmnpqrstvwxyz0';

const describeOnly = (rule: object) => parsePolicy({ rules: [rule] }).rules.map(describeRule)[0];
const onlyDeny = (id: string) => ({ id, effect: 'deny', action: id });
const line = (id: string) => `${id}: deny when action is ${id}`;
const diff = (before: readonly object[], after: readonly object[]) =>
  diffPolicies(parsePolicy({ rules: before }), parsePolicy({ rules: after }));

describe('describeRule', () => {
  it.each<[object, string]>([
    [{ effect: 'deny' }, 'rule-1: deny everything'],
    [
      { id: 'pay-small', effect: 'auto_approve', action: 'payment.*', amount_lte: 100 },
      'pay-small: auto_approve when action is payment.* and amount <= 100',
    ],
    [
      { effect: 'require_approval', action: ['a', 'b.*'], amount_lte: 1e21, amount_gt: -0.5 },
      'rule-1: require_approval when action is a or b.* and amount > -0.5 and amount <= 1e+21',
    ],
    [
      { effect: 'allow', tool: 'email_send', recipient_domains: ['a.com', '*.a.com'] },
      'rule-1: allow when tool is email_send and every recipient is at a.com or *.a.com',
    ],
    [
      { effect: 'deny', risk: ['medium', 'high'], recipient_domains: ['a.com'] },
      'rule-1: deny when risk is medium or high and any recipient is at a.com',
    ],
    [
      { effect: 'auto_approve_notify', approvers: [CHANNEL], description: 'For "us".' },
      `rule-1: auto_approve_notify everything; approvers ${CHANNEL}; described as "For \\"us\\"."`,
    ],
    [
      { effect: 'require_approval', action: 'a', approvals: 2 },
      'rule-1: require_approval when action is a; approvals 2',
    ],
    [
      { effect: 'allow', action: 'a and amount <= 5' },
      'rule-1: allow when action is "a and amount <= 5"',
    ],
  ])('%j', (rule, expected) => {
    expect(describeOnly(rule)).toBe(expected);
  });

  it('says two rules alike only when they are', () => {
    const text = fc.constantFrom(
      'a',
      'b',
      'or',
      'a or b',
      '"a"',
      'a and risk is low',
      '; approvers',
    );
    const rule = fc.record(
      {
        effect: fc.constantFrom('allow', 'deny'),
        action: fc.uniqueArray(text, { minLength: 1, maxLength: 3 }),
        amount_lte: fc.constantFrom(0, 1, 0.1, 0.1 + Number.EPSILON),
        risk: fc.constantFrom('low', 'high'),
        description: text,
      },
      { requiredKeys: ['effect'] },
    );
    fc.assert(
      fc.property(rule, rule, (one, other) => {
        const same =
          JSON.stringify(parsePolicy({ rules: [one] }).rules) ===
          JSON.stringify(parsePolicy({ rules: [other] }).rules);
        expect(describeOnly(one) === describeOnly(other)).toBe(same);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('diffPolicies', () => {
  const [a, b, c] = [onlyDeny('a'), onlyDeny('b'), onlyDeny('c')];
  const all = [a, b, c];

  it('tells what comes, goes and stays', () => {
    expect(diff([], [])).toEqual([]);
    expect(diff([], [a])).toEqual([`+ ${line('a')}`]);
    expect(diff([a], [])).toEqual([`- ${line('a')}`]);
    expect(diff(all, all)).toEqual([`  ${line('a')}`, `  ${line('b')}`, `  ${line('c')}`]);
    expect(diff(all, [a, { ...b, effect: 'allow' }, c])).toEqual([
      `  ${line('a')}`,
      `- ${line('b')}`,
      '+ b: allow when action is b',
      `  ${line('c')}`,
    ]);
  });

  it('shows a rule that moved in both places', () => {
    expect(diff(all, [c, a, b])).toEqual([
      `+ ${line('c')}`,
      `  ${line('a')}`,
      `  ${line('b')}`,
      `- ${line('c')}`,
    ]);
  });

  it('gives both documents back, and says nothing changed only of the same document', () => {
    const pair = fc.oneof(
      fc.tuple(writtenPolicy, writtenPolicy),
      // Mostly the same: some rules left out, in another order.
      writtenPolicy.chain((policy) =>
        fc.tuple(
          fc.constant(policy),
          fc.shuffledSubarray(policy.rules).map((rules) => ({ rules })),
        ),
      ),
    );
    fc.assert(
      fc.property(pair, ([one, other]) => {
        const [before, after] = [parsePolicy(one), parsePolicy(other)];
        const lines = diffPolicies(before, after);
        const side = (sign: string) =>
          lines.filter((text) => text[0] === sign || text[0] === ' ').map((text) => text.slice(2));
        expect(side('-')).toEqual(before.rules.map(describeRule));
        expect(side('+')).toEqual(after.rules.map(describeRule));
        const unchanged = lines.every((text) => text.startsWith('  '));
        expect(unchanged).toBe(JSON.stringify(before) === JSON.stringify(after));
        expect(lines.filter((text) => text.startsWith(' '))).toHaveLength(
          longestCommon(before.rules, after.rules),
        );
      }),
      { numRuns: 300 },
    );
  });
});

/** How many rules can stay in order, by trying. */
function longestCommon(before: readonly PolicyRule[], after: readonly PolicyRule[]): number {
  const [first, ...rest] = before.map((rule) => JSON.stringify(rule));
  if (first === undefined) return 0;
  const without = longestCommon(before.slice(1), after);
  const at = after.findIndex((rule) => JSON.stringify(rule) === first);
  if (at === -1 || rest.length < without) return without;
  return Math.max(without, 1 + longestCommon(before.slice(1), after.slice(at + 1)));
}
