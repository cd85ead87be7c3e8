import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  compilePolicy,
  decidePolicy,
  type CompiledPolicy,
} from '../../../../shared/rules/policy/decide.ts';
import type { PolicySubject } from '../../../../shared/rules/policy/subject.ts';
import { parsePolicy } from '../../../../shared/rules/policy/document.ts';
import { shadowedRules } from '../../../../shared/rules/policy/shadowed.ts';
import { subject, toolPolicy, toolSubject, writtenPolicy } from './arbitraries.ts';

/** The rules that never decide, as `rule < by`. */
const idle = (...rules: object[]) =>
  shadowedRules(parsePolicy({ rules: rules.map((rule) => ({ effect: 'deny', ...rule })) })).map(
    ({ rule, by }) => `${rule} < ${by ?? 'itself'}`,
  );
const SHADOWED = ['rule-2 < rule-1'];
const CONTRADICTORY = ['rule-1 < itself'];

describe('shadowedRules', () => {
  it.each<[object, object]>([
    [{}, {}],
    [{}, { effect: 'allow', action: 'a', risk: 'low' }],
    [{ action: 'pay.*' }, { action: ['pay.out', 'pay.in.*'] }],
    [{ action: 'pay.*' }, { action: 'pay.*', amount_lte: 5 }],
    [{ action: ['a', 'b'] }, { action: 'b' }],
    [{ action: '*' }, { action: '*' }],
    [{ amount_lte: 100 }, { amount_lte: 100 }],
    [{ amount_lte: 100 }, { amount_lte: 50, amount_gt: 5 }],
    [{ amount_gt: 5 }, { amount_gt: 5 }],
    [
      { amount_gt: 5, amount_lte: 100 },
      { amount_gt: 6, amount_lte: 50 },
    ],
    [{ risk: ['low', 'high'] }, { risk: 'low' }],
    [{ tool: ['file_url', 'email_send'] }, { tool: 'file_url' }],
    [{ tool: 'email_send' }, { recipient_domains: ['a.com'] }],
    [{ recipient_domains: ['*.a.com'] }, { recipient_domains: ['x.a.com', '*.x.a.com'] }],
    [{ recipient_domains: ['a.com'] }, { effect: 'allow', recipient_domains: ['a.com'] }],
    [
      { effect: 'allow', recipient_domains: ['a.com', 'b.com'] },
      { effect: 'auto_approve', recipient_domains: ['b.com'] },
    ],
  ])('finds that %j is broader than %j', (earlier, later) => {
    expect(idle(earlier, later)).toEqual(SHADOWED);
  });

  it.each<[object, object]>([
    [{ action: 'a' }, {}],
    [{ action: '*' }, {}],
    [{ action: '*' }, { amount_lte: 5 }],
    [{ action: 'pay.*' }, { action: 'pay' }],
    [{ action: 'pay.*' }, { action: 'pay*' }],
    [{ action: 'pay' }, { action: ['pay', 'refund'] }],
    [{ amount_lte: 100 }, { amount_lte: 100.5 }],
    [{ amount_lte: 100 }, { amount_gt: 5 }],
    [{ amount_gt: 5 }, { amount_gt: 4 }],
    [{ amount_gt: 5 }, { amount_lte: 4 }],
    [{ amount_lte: 1e300 }, { action: 'a' }],
    [{ risk: ['low', 'medium', 'high'] }, {}],
    [{ tool: ['file_url', 'email_send'] }, {}],
    [{ recipient_domains: ['*.a.com'] }, { recipient_domains: ['a.com'] }],
    [{ recipient_domains: ['a.com'] }, { tool: 'email_send' }],
    // One recipient at a.com is not all of them.
    [{ effect: 'allow', recipient_domains: ['a.com'] }, { recipient_domains: ['a.com'] }],
  ])('does not take %j for broader than %j', (earlier, later) => {
    expect(idle(earlier, later)).toEqual([]);
  });

  it.each<[object]>([
    [{ amount_gt: 5, amount_lte: 5 }],
    [{ amount_gt: 6, amount_lte: 5 }],
    [{ tool: 'email_send', action: 'a' }],
    [{ tool: 'file_url', amount_gt: 5 }],
    [{ tool: 'file_url', recipient_domains: ['a.com'] }],
    [{ action: '*', recipient_domains: ['a.com'] }],
  ])('finds that %j contradicts itself', (rule) => {
    expect(idle(rule)).toEqual(CONTRADICTORY);
    // It shadows nothing, and is not said to be shadowed.
    expect(idle(rule, rule)).toEqual([...CONTRADICTORY, 'rule-2 < itself']);
    expect(idle({}, rule)).toEqual(['rule-2 < itself']);
  });

  it('names the first rule that is broader, and no idle one', () => {
    expect(idle({ action: 'a' }, {}, { action: 'a' }, { action: 'b' }, {})).toEqual([
      'rule-3 < rule-1',
      'rule-4 < rule-2',
      'rule-5 < rule-2',
    ]);
  });

  it('says why, and what to do', () => {
    const rules = [
      { id: 'all', effect: 'allow' },
      { id: 'never', effect: 'deny', action: 'drop' },
      { id: 'same', effect: 'allow', risk: 'low' },
      { id: 'empty', effect: 'deny', amount_gt: 10, amount_lte: 5 },
      { id: 'odd', effect: 'deny', risk: 'low', tool: 'file_url', action: 'drop' },
    ];
    expect(shadowedRules(parsePolicy({ rules })).map(({ message }) => message)).toEqual([
      'never (deny) never decides: all comes first and matches everything it matches, so the answer is allow. Move never before all, or remove it.',
      'same (allow) never decides: all comes first and matches everything it matches. Move same before all, or remove it.',
      'empty never matches: no amount is both > 10 and <= 5.',
      'odd never matches: no call can meet tool, action together. Only ask_approval has an action, an amount and bound values, only email_send has recipients, and tool is for file_url and email_send.',
    ]);
  });

  it('is right: a rule it lists never decides', () => {
    const anyPolicy = fc.oneof(writtenPolicy, toolPolicy);
    const anySubject = fc.oneof(subject, toolSubject);
    let listed = 0;
    fc.assert(
      fc.property(anyPolicy, fc.array(anySubject, { maxLength: 20 }), (written, calls) => {
        const policy = compilePolicy(parsePolicy(written));
        const idleIds = shadowedRules(policy).map(({ rule }) => rule);
        listed += idleIds.length;
        const deciding = decidingRules(policy, [...calls, ...CALLS]);
        expect(idleIds.filter((id) => deciding.has(id))).toEqual([]);
      }),
      { numRuns: 150 },
    );
    expect(listed).toBeGreaterThan(150);
  });

  it('is complete for pairs: what it does not list decides something', () => {
    const pair = writtenPolicy.map(({ rules }) => ({ rules: rules.slice(0, 2) }));
    fc.assert(
      fc.property(pair, (written) => {
        const policy = compilePolicy(parsePolicy(written));
        const deciding = decidingRules(policy, CALLS);
        const idleIds = policy.rules.map(({ id }) => id).filter((id) => !deciding.has(id));
        expect(shadowedRules(policy).map(({ rule }) => rule)).toEqual(idleIds);
      }),
      { numRuns: 300 },
    );
  });
});

function decidingRules(policy: CompiledPolicy, calls: readonly PolicySubject[]) {
  return new Set(calls.map((call) => decidePolicy(policy, call).rule?.id));
}

/** Calls that tell apart whatever random rules can say. */
const CALLS: readonly PolicySubject[] = (['low', 'medium', 'high', null] as const).flatMap(
  (risk): PolicySubject[] => {
    const none = { risk, action: null, amount: null, recipientDomains: null };
    const actions = ['pay', 'pay.x', 'pay.out', 'pay.out.x', 'pa', 'refund', 'ref', 'x', null];
    const amounts = [-2, -1, -0.5, 0, 0.5, 1, 1.5, 2, 2.2, 2.5, 50, 100, 200, null];
    const domains = [
      'a.com',
      'x.a.com',
      'b.a.com',
      'x.b.a.com',
      'x.com',
      'c.org',
      'z.org',
      'xn--bcher-kva.de',
    ];
    return [
      ...actions.flatMap((action) =>
        amounts.flatMap((amount) => {
          const stated = { ...none, tool: 'ask_approval' as const, action, amount };
          // Where the amount isn't bound, no rule lets the call pass by it.
          return [stated, { ...stated, bind: {} }];
        }),
      ),
      { ...none, tool: 'file_url' },
      { ...none, tool: 'email_send' },
      ...domains.flatMap((one) =>
        domains.map((other) => ({
          ...none,
          tool: 'email_send' as const,
          recipientDomains: [one, other],
        })),
      ),
    ];
  },
);
