import { describe, expect, it } from 'vitest';
import { parseExact } from '../../../../shared/lib/json/exact-json.ts';
import { amountWarning } from '../../../../shared/rules/policy/bound.ts';
import {
  amountPlaces,
  compilePolicy,
  decidePolicy,
} from '../../../../shared/rules/policy/decide.ts';
import { diffPolicies } from '../../../../shared/rules/policy/diff.ts';
import { parsePolicy } from '../../../../shared/rules/policy/document.ts';
import { explainPolicy } from '../../../../shared/rules/policy/explain.ts';
import { shadowedRules } from '../../../../shared/rules/policy/shadowed.ts';
import type { PolicySubject } from '../../../../shared/rules/policy/subject.ts';
import { suggestRules, type EndedApproval } from '../../../../shared/rules/policy/suggest.ts';

/** A call with bound values as they're written in JSON; null binds none. */
function asking(amount: number | null, bind: string | null): PolicySubject {
  return {
    tool: 'ask_approval',
    action: 'payment.refund',
    amount,
    risk: 'medium',
    recipientDomains: null,
    ...(bind !== null && { bind: parseExact(bind) }),
  };
}

function decides(rule: object, amount: number | null, bind: string | null): boolean {
  const policy = compilePolicy(parsePolicy({ rules: [rule] }));
  const subject = asking(amount, bind);
  const isMatch = decidePolicy(policy, subject).rule !== null;
  // What `policy test` explains is what decides.
  expect(explainPolicy(policy, subject).trace.map(({ matched }) => matched)).toEqual([isMatch]);
  return isMatch;
}

const shadowed = (...rules: object[]) =>
  shadowedRules(parsePolicy({ rules })).map(({ rule }) => rule);

const approved = (bind: string | null): EndedApproval[] =>
  Array.from({ length: 5 }, (_, n) => ({
    id: `req_${n}`,
    action: 'payment.refund',
    amount: 20,
    risk: 'low',
    status: 'approved',
    hint: null,
    decided_by: 'channel:chn_1',
    approvals: 1,
    bind,
    ended_at: 1000 - n,
  }));

const warned = (amount: number | null, bind: string | null, ...places: string[]) =>
  amountWarning(asking(amount, bind), places.length === 0 ? ['/amount'] : places);

describe('a rule that stops large amounts, before one that approves the action', () => {
  const any = { effect: 'auto_approve', action: 'payment.*' };
  const effectOf = (stop: object, amount: number | null, bind: string | null) =>
    decidePolicy(compilePolicy(parsePolicy({ rules: [stop, any] })), asking(amount, bind)).effect;

  it.each([
    [20, '{"total":5000}', 'require_approval'],
    [20, '{"amount":"5000 EUR"}', 'require_approval'],
    [null, '{"amount":"5,000"}', 'require_approval'],
    [20, '{"amount":null}', 'require_approval'],
    [20, '{"amount":20.00}', 'auto_approve'],
    [20, null, 'auto_approve'],
    [null, '{"order":"o-1"}', 'auto_approve'],
    [null, null, 'auto_approve'],
  ])('amount %j with %s bound: %s', (amount, bind, effect) => {
    const large = { action: 'payment.*', amount_gt: 50 };
    expect(effectOf({ effect: 'require_approval', ...large }, amount, bind)).toBe(effect);
    expect(effectOf({ effect: 'deny', ...large }, amount, bind)).toBe(effect);
  });

  it.each([
    ['{"amount":"5,000"}', 'require_approval'],
    ['{"amount":[5000]}', 'require_approval'],
    ['{"amount":"20.00"}', 'auto_approve'],
    ['{"order":"o-1"}', 'auto_approve'],
  ])('with %s bound where it looks: %s', (bind, effect) => {
    const large = { action: 'payment.*', bind: { '/amount': { gt: 50 } } };
    expect(effectOf({ effect: 'require_approval', ...large }, null, bind)).toBe(effect);
    expect(effectOf({ effect: 'deny', ...large }, null, bind)).toBe(effect);
  });
});

describe('a rule that approves small amounts', () => {
  const small = { effect: 'auto_approve', action: 'payment.refund', amount_lte: 50 };

  it.each([
    ['nothing is bound', 20, null, true],
    ['the same is bound', 20, '{"amount":20,"currency":"EUR"}', true],
    ['the same is bound in other digits', 20, '{"amount":20.0}', true],
    ['the same is bound with an exponent', 20, '{"amount":2e1}', true],
    ['the same is bound as a text', 20, '{"amount":"20.00"}', true],
    ['another amount is bound', 20, '{"order":"1","amount":5000,"currency":"EUR"}', false],
    ['a little more is bound', 20, '{"amount":20.000000000000001}', false],
    ['far less than a double tells is more', 20, '{"amount":20.00000000000000000000001}', false],
    ['more than a double holds is bound', 20, '{"amount":1e400}', false],
    ['another text is bound', 20, '{"amount":"5000"}', false],
    ['a text that is no number is bound', 20, '{"amount":"20 EUR"}', false],
    ['the sign differs', 20, '{"amount":-20}', false],
    ['zero has a sign', 0, '{"amount":-0}', true],
    ['no amount is bound', 20, '{"order":"1"}', false],
    ['the amount is bound elsewhere', 20, '{"lines":[{"amount":20}]}', false],
    ['a list is bound', 20, '[20]', false],
    ['null is bound', 20, 'null', false],
    [
      'the last of two equal names counts, as for whoever reads it',
      20,
      '{"amount":20,"amount":5000}',
      false,
    ],
    ['nothing states the amount', null, '{"amount":20}', false],
    ['both are too large', 5000, '{"amount":5000}', false],
  ])('where %s', (_name, amount, bind, expected) => {
    expect(decides(small, amount, bind)).toBe(expected);
  });

  it('finds the amount where it says', () => {
    const nested = { ...small, amount_at: '/lines/0/amount' };
    expect(decides(nested, 20, '{"lines":[{"amount":20}]}')).toBe(true);
    expect(decides(nested, 20, '{"lines":[{"amount":5000}],"amount":20}')).toBe(false);
    expect(decides({ ...small, amount_at: '/a~1b' }, 20, '{"a/b":20}')).toBe(true);
    expect(decides({ ...small, amount_at: '' }, 20, '20')).toBe(true);
    expect(decides({ ...small, amount_at: '/length' }, 1, '["x"]')).toBe(false);
  });

  it('is left alone where it has no amount', () => {
    const any = { effect: 'auto_approve', action: 'payment.refund', risk: 'medium' };
    expect(decides(any, 20, '{"amount":5000}')).toBe(true);
  });
});

/** The effect, the rule that decides, and the one in doubt. */
function decided(rules: object[], amount: number | null, bind: string | null) {
  const policy = compilePolicy(parsePolicy({ rules }));
  const { effect, rule, doubt } = decidePolicy(policy, asking(amount, bind));
  return [effect, rule?.id ?? null, doubt?.id ?? null];
}

describe('a rule that approves everything else', () => {
  const small = { id: 'small', effect: 'auto_approve', amount_lte: 50 };
  const rest = { id: 'rest', effect: 'allow' };
  const toPerson = ['require_approval', null, 'small'];

  it.each([
    ['another amount is bound', 20, '{"amount":5000}'],
    ['no amount is bound', 20, '{"order":"1"}'],
    ['the small one is bound', 5000, '{"amount":20}'],
    ['only the bound one is there', null, '{"amount":20}'],
  ])('approves no call whose amount an earlier rule doubts: %s', (_name, amount, bind) => {
    expect(decided([small, rest], amount, bind)).toEqual(toPerson);
    expect(decided([small, { ...rest, effect: 'auto_approve_notify' }], amount, bind)).toEqual(
      toPerson,
    );
  });

  it('and another place of the amount decide each for its own', () => {
    const total = { id: 'total', effect: 'auto_approve', amount_lte: 50, amount_at: '/total' };
    const refund = { ...small, id: 'refund' };
    for (const rules of [
      [total, refund],
      [refund, total],
    ]) {
      expect(decided(rules, 20, '{"amount":20}')).toEqual(['auto_approve', 'refund', null]);
      expect(decided(rules, 20, '{"total":20}')).toEqual(['auto_approve', 'total', null]);
      expect(decided(rules, 20, '{"order":1}')).toEqual(['require_approval', null, rules[0]?.id]);
      expect(decided([...rules, rest], 20, '{"order":1}')[1]).toBeNull();
      expect(decided(rules, 80, '{"amount":80}')).toEqual(['require_approval', null, null]);
      expect(decided([...rules, rest], 80, '{"amount":80}')).toEqual(['allow', 'rest', null]);
    }
    // One of both differs from what the agent says.
    expect(decided([total, refund], 20, '{"amount":20,"total":5000}')).toEqual([
      'require_approval',
      null,
      'total',
    ]);
  });

  it('decides where no earlier rule looks at either number', () => {
    expect(decided([small, rest], 5000, '{"amount":9000}')).toEqual(['allow', 'rest', null]);
    expect(decided([{ ...small, action: 'x' }, rest], 20, '{"amount":9000}')).toEqual([
      'allow',
      'rest',
      null,
    ]);
    expect(decided([rest, small], 20, '{"amount":9000}')).toEqual(['allow', 'rest', null]);
    expect(decided([small, rest], 5000, null)).toEqual(['allow', 'rest', null]);
  });

  it('comes after rules that stop the call', () => {
    const stop = { id: 'stop', effect: 'deny', amount_gt: 1000 };
    expect(decided([small, stop, rest], 20, '{"amount":5000}')).toEqual(['deny', 'stop', null]);
    const two = { id: 'two', effect: 'require_approval', approvals: 2 };
    expect(decided([small, two, rest], 20, '{"amount":5000}')).toEqual([
      'require_approval',
      'two',
      null,
    ]);
  });

  it('is explained', () => {
    const { sentence, trace } = explainPolicy(
      parsePolicy({ rules: [small, rest] }),
      asking(20, '{"amount":5000}'),
    );
    expect(sentence).toBe(
      'The rule small fits only one of the amounts, so no rule approves and a person decides: require_approval.',
    );
    expect(trace).toMatchObject([
      {
        matched: false,
        decides: false,
        failed: [{ given: 'the amount is 20, but the bound values have 5000 at /amount' }],
      },
      { matched: true, decides: false },
    ]);
  });
});

describe('a rule that stops large amounts', () => {
  it.each(['deny', 'require_approval'])('%s fits if either number does', (effect) => {
    const large = { effect, amount_gt: 1000 };
    expect(decides(large, 20, '{"amount":5000}')).toBe(true);
    expect(decides(large, 5000, '{"amount":20}')).toBe(true);
    expect(decides(large, null, '{"amount":"5000"}')).toBe(true);
    expect(decides(large, 5000, null)).toBe(true);
    expect(decides(large, 20, '{"amount":20}')).toBe(false);
    expect(decides(large, null, '{"order":1}')).toBe(false);
  });
});

describe('a rule over bound values', () => {
  const rule = {
    effect: 'auto_approve',
    bind: { '/amount': { lte: 50 }, '/currency': ['EUR', 'CHF'], '/to': { prefix: 'ACME-' } },
  };

  it.each([
    ['{"amount":50.0,"currency":"CHF","to":"ACME-1"}', true],
    ['{"amount":"49.99","currency":"EUR","to":"ACME-"}', true],
    ['{"amount":50.000000000000000001,"currency":"EUR","to":"ACME-1"}', false],
    ['{"amount":-5000,"currency":"EUR","to":"ACME-1"}', false],
    ['{"amount":5,"currency":"eur","to":"ACME-1"}', false],
    ['{"amount":5,"currency":"EUR","to":"EVIL-1"}', false],
    ['{"amount":5,"currency":"EUR"}', false],
    ['{"amount":5,"to":"ACME-1"}', false],
    ['{"amount":{"EUR":5},"currency":"EUR","to":"ACME-1"}', false],
  ])('of %s', (bind, expected) => {
    expect(decides(rule, null, bind)).toBe(expected);
  });

  it('never fits where nothing is bound, even if it stops calls', () => {
    expect(decides({ effect: 'deny', bind: { '/amount': { gt: 1 } } }, 20, null)).toBe(false);
  });

  it('tells numbers from texts in a list', () => {
    expect(decides({ effect: 'allow', bind: { '/n': [20, true] } }, null, '{"n":20.0}')).toBe(true);
    expect(decides({ effect: 'allow', bind: { '/n': 20 } }, null, '{"n":"20"}')).toBe(false);
    expect(decides({ effect: 'allow', bind: { '/n': 'true' } }, null, '{"n":true}')).toBe(false);
  });

  it('is written in words, and read back as it was', () => {
    const document = parsePolicy({ rules: [{ ...rule, amount_lte: 50, amount_at: '/x' }] });
    expect(diffPolicies({ rules: [] }, document)).toEqual([
      '+ rule-1: auto_approve when amount, bound at /x, <= 50 and bind /amount <= 50 and bind /currency is EUR or CHF and bind /to begins with "ACME-"',
    ]);
    expect(parsePolicy(JSON.parse(JSON.stringify(document)))).toEqual(document);
  });

  it.each([
    [{ bind: { amount: 5 } }, 'rules[0].bind.amount'],
    [{ bind: {} }, 'rules[0].bind'],
    [{ bind: { '/a': {} } }, 'rules[0].bind["/a"]'],
    [{ bind: { '/a': { max: 1 } } }, 'rules[0].bind["/a"].max'],
    [{ bind: { '/a': { lte: '5' } } }, 'rules[0].bind["/a"].lte'],
    [{ bind: { '/a': null } }, 'rules[0].bind["/a"]'],
    [{ amount_at: '/a' }, 'rules[0].amount_at'],
    [{ amount_at: 'a', amount_lte: 1 }, 'rules[0].amount_at'],
  ])('is refused as %j', (wrong, path) => {
    expect(() => parsePolicy({ rules: [{ effect: 'deny', ...wrong }] })).toThrow(
      expect.objectContaining({ code: 'POLICY_INVALID', details: { path } }),
    );
  });
});

describe('the linter', () => {
  it('knows that a rule over bound values is no broader than one without', () => {
    const eur = { effect: 'allow', bind: { '/currency': 'EUR' } };
    expect(shadowed({ effect: 'allow' }, eur)).toEqual(['rule-2']);
    expect(shadowed(eur, { effect: 'allow' })).toEqual([]);
    expect(shadowed(eur, eur)).toEqual(['rule-2']);
    expect(shadowed(eur, { effect: 'allow', bind: { '/currency': 'CHF' } })).toEqual([]);
  });

  it('knows that a rule that approves needs both numbers and one that denies either', () => {
    const [allow, deny] = ['allow', 'deny'].map((effect) => ({ effect, amount_lte: 50 }));
    expect(shadowed(allow ?? {}, deny ?? {})).toEqual([]);
    expect(shadowed(deny ?? {}, allow ?? {})).toEqual(['rule-2']);
    expect(shadowed(allow ?? {}, { ...allow, amount_at: '/total' })).toEqual([]);
  });
});

describe('suggestions', () => {
  it('offer no rule that would decide nothing', () => {
    const policy = compilePolicy(parsePolicy({ rules: [] }));
    expect(suggestRules(policy, approved(null))).toHaveLength(1);
    expect(suggestRules(policy, approved('{"amount":20}'))).toHaveLength(1);
    expect(suggestRules(policy, approved('{"amount":5000}'))).toEqual([]);
  });
});

describe('what a person is warned of', () => {
  it('is an amount that is stated and not bound', () => {
    expect(warned(20, '{"amount":5000}')).toBe(
      'The amount is 20, but the bound values have 5000 at /amount. What is bound will be done.',
    );
    expect(warned(20, '{"order":1}')).toBe(
      'The amount is 20, but the bound values have nothing at /amount. What is bound will be done.',
    );
    expect(warned(20, '{"lines":[{"amount":5000}]}', '/lines/0/amount')).toContain(
      'have 5000 at /lines/0/amount',
    );
    expect(warned(20, '{"amount":5000,"lines":[{"amount":20}]}')).toContain('have 5000 at /amount');
    expect(warned(20, '{"amount":20,"total":22}', '/amount', '/total')).toContain(
      'have 22 at /total',
    );
    expect(warned(20, '{"order":1}', '/total', '/amount')).toContain('have nothing at /total');
  });

  it('is nothing where the bound values hold it, or nothing is bound', () => {
    expect(warned(20, '{"amount":20.0}')).toBeNull();
    expect(warned(20, '{"lines":[{"amount":20}]}', '/lines/0/amount')).toBeNull();
    expect(warned(20, null)).toBeNull();
    expect(warned(null, '{"amount":5000}')).toBeNull();
    expect(warned(20, '{"amount":20}', '/total', '/amount')).toBeNull();
  });

  it('is nothing about places that only rules for other actions name', () => {
    const rules = [
      { effect: 'auto_approve', action: 'other', amount_lte: 50, amount_at: '/lines/0/amount' },
    ];
    const policy = compilePolicy(parsePolicy({ rules }));
    expect(amountPlaces(policy, asking(20, '{"amount":20}'))).toEqual(['/amount']);
  });
});
