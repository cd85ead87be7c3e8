import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compilePolicy, decidePolicy } from '../../../../shared/rules/policy/decide.ts';
import type { PolicySubject } from '../../../../shared/rules/policy/subject.ts';
import { parsePolicy } from '../../../../shared/rules/policy/document.ts';
import { explainPolicy } from '../../../../shared/rules/policy/explain.ts';
import { subject as anySubject, toolPolicy, toolSubject, writtenPolicy } from './arbitraries.ts';

const asking: PolicySubject = {
  tool: 'ask_approval',
  action: 'payment.send',
  amount: 250,
  risk: 'low',
  recipientDomains: null,
};

const explain = (rules: readonly object[], call: PolicySubject) =>
  explainPolicy(parsePolicy({ rules }), call);

/** Each condition that failed, as one line. */
function failed(rule: object, call: Partial<PolicySubject>): string[] {
  const [trace] = explain([{ effect: 'allow', ...rule }], { ...asking, ...call }).trace;
  return trace?.failed.map(({ field, wanted, given }) => `${field}: ${wanted}; ${given}`) ?? [];
}

const given = (action: string) => failed({ action: 'x' }, { action })[0]?.split('; ')[1];
const to = (...recipientDomains: string[]) =>
  ({ tool: 'email_send', action: null, amount: null, recipientDomains }) as const;

describe('explainPolicy', () => {
  it('names the rule that decides, and what every other rule came to', () => {
    const rules = [
      { id: 'small', effect: 'auto_approve', action: 'payment.*', amount_lte: 100, risk: 'high' },
      { id: 'any', effect: 'require_approval' },
      { id: 'late', effect: 'deny', action: 'payment.send' },
    ];
    expect(explain(rules, asking)).toEqual({
      effect: 'require_approval',
      rule: { id: 'any', effect: 'require_approval' },
      doubt: null,
      sentence: 'The rule any decides: require_approval.',
      trace: [
        {
          rule: 'small',
          effect: 'auto_approve',
          says: 'small: auto_approve when action is payment.* and amount <= 100 and risk is high',
          matched: false,
          decides: false,
          failed: [
            { field: 'amount_lte', wanted: 'amount <= 100', given: 'the amount is 250' },
            { field: 'risk', wanted: 'risk is high', given: 'the risk is low' },
          ],
        },
        {
          rule: 'any',
          effect: 'require_approval',
          says: 'any: require_approval everything',
          matched: true,
          decides: true,
          failed: [],
        },
        {
          rule: 'late',
          effect: 'deny',
          says: 'late: deny when action is payment.send',
          matched: true,
          decides: false,
          failed: [],
        },
      ],
    });
  });

  it('says so when no rule matches', () => {
    expect(explain([], asking)).toEqual({
      effect: 'require_approval',
      rule: null,
      doubt: null,
      sentence: 'No rule matches, so a person decides: require_approval.',
      trace: [],
    });
  });

  it('tells what was wanted and what was given', () => {
    expect(failed({ tool: ['file_url', 'email_send'] }, {})).toEqual([
      'tool: tool is file_url or email_send; the tool is ask_approval',
    ]);
    expect(failed({ action: ['refund', 'a b*'], amount_gt: 300 }, {})).toEqual([
      'action: action is refund or "a b*"; the action is payment.send',
      'amount_gt: amount > 300; the amount is 250',
    ]);
    expect(
      failed(
        { action: '*', amount_lte: 1, risk: 'low' },
        { action: null, amount: null, risk: null },
      ),
    ).toEqual([
      'action: action is *; there is no action',
      'amount_lte: amount <= 1; there is no amount',
      'risk: risk is low; there is no risk',
    ]);
    expect(failed({ action: '*', amount_lte: 1 }, { tool: 'file_url' })).toEqual([
      'action: action is *; file_url has no action',
      'amount_lte: amount <= 1; file_url has no amount',
    ]);
  });

  it('names the recipients that are in the way', () => {
    const ours = { recipient_domains: ['a.com', '*.b.org'] };
    expect(failed(ours, to('a.com', 'evil.net', 'evil.net', 'b.org'))).toEqual([
      'recipient_domains: every recipient is at a.com or *.b.org; some are at evil.net, b.org',
    ]);
    expect(failed({ ...ours, effect: 'deny' }, to('c', 'd', 'e', 'f', 'g', 'h', 'i'))).toEqual([
      'recipient_domains: any recipient is at a.com or *.b.org; all are at c, d, e, f, g and 2 more',
    ]);
    expect(failed(ours, to())).toEqual([
      'recipient_domains: every recipient is at a.com or *.b.org; there are no recipients',
    ]);
    expect(failed(ours, {})).toEqual([
      'recipient_domains: every recipient is at a.com or *.b.org; ask_approval has no recipients',
    ]);
  });

  it('shows a text of the agent as a text, short and with nothing hidden', () => {
    expect(given('x and more')).toBe('the action is "x and more"');
    expect(given('x\u200b\u202e\n"')).toBe(String.raw`the action is "x\u{200b}\u{202e}\n\""`);
    expect(given('')).toBe('the action is ""');
    expect(given('a'.repeat(100_000))).toBe(`the action is "${'a'.repeat(200)}"…`);
  });

  it('agrees with the decision', () => {
    fc.assert(
      fc.property(writtenPolicy, anySubject, (written, call) => {
        const document = parsePolicy(written);
        const { effect, rule, doubt, trace } = explainPolicy(document, call);
        expect({ effect, rule, doubt }).toEqual(decidePolicy(compilePolicy(document), call));
        const deciding = trace.filter(({ decides }) => decides);
        expect(deciding.map((each) => each.rule)).toEqual(rule === null ? [] : [rule.id]);
        expect(trace.find(({ matched }) => matched)).toBe(deciding[0]);
        expect(trace.every(({ matched, failed: no }) => matched === (no.length === 0))).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });

  it('agrees with the decision about what tools of coding agents get', () => {
    const effects = new Set<string>();
    fc.assert(
      fc.property(toolPolicy, toolSubject, (written, call) => {
        const document = parsePolicy(written);
        const { effect, rule, doubt } = explainPolicy(document, call);
        expect({ effect, rule, doubt }).toEqual(decidePolicy(compilePolicy(document), call));
        effects.add(rule?.bind === undefined ? 'none' : effect).add(doubt ? 'doubt' : 'sure');
      }),
      // The same calls each time, so that all effects are among them.
      { numRuns: 3000, seed: 6 },
    );
    expect(effects).toContain('doubt');
    expect(effects.has('allow') || effects.has('auto_approve')).toBe(true);
    expect(effects).toContain('deny');
  });
});
