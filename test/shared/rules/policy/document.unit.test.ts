import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../../../shared/lib/errors.ts';
import {
  parsePolicy,
  POLICY_ACTION_MAX_CHARS,
  POLICY_DESCRIPTION_MAX_CHARS,
  POLICY_EFFECTS,
  POLICY_ITEMS_MAX,
  POLICY_MAX_BYTES,
  POLICY_RISKS,
  POLICY_RULES_MAX,
  POLICY_TOOLS,
} from '../../../../shared/rules/policy/document.ts';
import { writtenPolicy } from './arbitraries.ts';

const CHANNEL = 'chn_01jabcdefghjkmnpqrstvwxyz0';
const BIG = 'a'.repeat(1_000_000);

/** How a document is refused, or null when it holds. Whatever else is thrown is a defect. */
function refusalOf(document: unknown): ServiceError | null {
  try {
    parsePolicy(document);
    return null;
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'POLICY_INVALID') return error;
    throw error;
  }
}

/** The path a refusal names, as its details and its hint have it, or null when the document holds. */
function badPath(document: unknown): string | null {
  const refusal = refusalOf(document);
  if (refusal === null) return null;
  const path = String(refusal.details?.['path']);
  return refusal.hint?.startsWith(`${path}: `) ? path : `another path than ${refusal.hint}`;
}

const badField = (fields: object) => badPath({ rules: [{ effect: 'deny', ...fields }] });
const domainHint = (domain: string) =>
  refusalOf({ rules: [{ effect: 'deny', recipient_domains: [domain] }] })?.hint;

const numbered = (count: number, prefix: string) =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);

describe('parsePolicy', () => {
  it('knows these words and limits', () => {
    expect(POLICY_EFFECTS).toEqual([
      'allow',
      'deny',
      'require_approval',
      'auto_approve',
      'auto_approve_notify',
    ]);
    expect(POLICY_TOOLS).toEqual(['file_url', 'email_send']);
    expect(POLICY_RISKS).toEqual(['low', 'medium', 'high']);
    expect([POLICY_RULES_MAX, POLICY_ITEMS_MAX, POLICY_MAX_BYTES]).toEqual([200, 50, 102_400]);
    expect([POLICY_ACTION_MAX_CHARS, POLICY_DESCRIPTION_MAX_CHARS]).toEqual([200, 500]);
  });

  it('gives every field in its normal form', () => {
    const full = {
      description: 'Mail to us — ‘small’ things.',
      approvers: [CHANNEL],
      recipient_domains: ['example.com', '*.example.com', 'xn--bcher-kva.de', '*.gov'],
      risk: 'low',
      amount_lte: 0.1,
      amount_gt: -5,
      tool: 'email_send',
      action: ['payment.*', 'refund', 'payment.*'],
      effect: 'auto_approve',
      id: 'mail-1_a',
    };
    const { rules } = parsePolicy({ rules: [full, { effect: 'deny' }] });
    expect(rules).toEqual([
      { ...full, risk: ['low'], tool: ['email_send'], action: ['payment.*', 'refund'] },
      { id: 'rule-2', effect: 'deny' },
    ]);
    expect(Object.keys(rules[0] ?? {}).slice(0, 3)).toEqual(['id', 'effect', 'action']);
  });

  it('holds without rules, and at each limit', () => {
    expect(parsePolicy({ rules: [] })).toEqual({ rules: [] });
    expect(badPath({ rules: Array.from({ length: 200 }, () => ({ effect: 'allow' })) })).toBeNull();
    expect(badField({ action: numbered(50, 'a') })).toBeNull();
    expect(badField({ action: 'a'.repeat(200), description: 'ü'.repeat(500) })).toBeNull();
    expect(badField({ id: 'a'.repeat(63), action: '*', risk: undefined })).toBeNull();
    expect(badField({ recipient_domains: [`${'a.'.repeat(125)}com`] })).toBeNull();
  });

  it.each<[unknown, string]>([
    [null, 'policy'],
    [[], 'policy'],
    ['{"rules": []}', 'policy'],
    [{}, 'rules'],
    [{ rules: null }, 'rules'],
    [{ rules: { length: 0 } }, 'rules'],
    [{ rules: [], version: 1 }, 'version'],
    [{ Rules: [] }, 'Rules'],
    [JSON.parse('{"__proto__": {"rules": []}}'), '__proto__'],
    [Object.create({ rules: [] }), 'rules'],
    [{ rules: [], 'a.b': 1 }, '["a.b"]'],
    [{ rules: [null] }, 'rules[0]'],
    [{ rules: [['deny']] }, 'rules[0]'],
    [{ rules: Array.from({ length: 1 }) }, 'rules[0]'],
    [{ rules: [{}] }, 'rules[0].effect'],
    [{ rules: [Object.create({ effect: 'deny' })] }, 'rules[0].effect'],
    [{ rules: [{ id: 'a' }, { effect: 'deny' }] }, 'rules[0].effect'],
    [{ rules: Array.from({ length: 201 }, () => ({ effect: 'deny' })) }, 'rules'],
  ])('refuses %j at %s', (document, path) => {
    expect(badPath(document)).toBe(path);
  });

  it.each<[object, string]>([
    [{ effect: 'Deny' }, 'effect'],
    [{ effect: ['deny'] }, 'effect'],
    [{ effect: 'toString' }, 'effect'],
    [{ id: '' }, 'id'],
    [{ id: 'Pay' }, 'id'],
    [{ id: '-pay' }, 'id'],
    [{ id: 'pay\n' }, 'id'],
    [{ id: 'a'.repeat(64) }, 'id'],
    [{ id: 7 }, 'id'],
    [{ action: '' }, 'action'],
    [{ action: null }, 'action'],
    [{ action: [] }, 'action'],
    [{ action: ['a', ['b']] }, 'action[1]'],
    [{ action: ['a', 'b', 7] }, 'action[2]'],
    [{ action: 'a*b' }, 'action'],
    [{ action: '**' }, 'action'],
    [{ action: '*.pay' }, 'action'],
    [{ action: 'pay\u200b' }, 'action'],
    [{ action: 'pay\u3164' }, 'action'],
    [{ action: 'pay\u202e' }, 'action'],
    [{ action: 'pay\ud800' }, 'action'],
    [{ action: 'pay\0' }, 'action'],
    [{ action: 'a'.repeat(201) }, 'action'],
    [{ action: numbered(51, 'a') }, 'action'],
    [{ tool: 'ask_approval' }, 'tool'],
    [{ tool: ['file_url', 'kv_set'] }, 'tool[1]'],
    [{ amount_lte: '100' }, 'amount_lte'],
    [{ amount_lte: NaN }, 'amount_lte'],
    [{ amount_lte: Infinity }, 'amount_lte'],
    [JSON.parse('{"amount_gt": 1e999}'), 'amount_gt'],
    [JSON.parse('{"amount_gt": -0.0}'), 'amount_gt'],
    [{ amount_gt: null }, 'amount_gt'],
    [{ amount_gt: [5] }, 'amount_gt'],
    [{ risk: 'critical' }, 'risk'],
    [{ risk: [] }, 'risk'],
    [{ recipient_domains: 'example.com' }, 'recipient_domains'],
    [{ recipient_domains: [] }, 'recipient_domains'],
    [{ recipient_domains: ['a.com', 1] }, 'recipient_domains[1]'],
    [{ approvals: 0 }, 'approvals'],
    [{ approvals: 6 }, 'approvals'],
    [{ approvals: '2' }, 'approvals'],
    [{ approvals: 2 }, 'approvals'],
    [{ effect: 'require_approval', approvals: 2, approvers: [CHANNEL] }, 'approvals'],
    [{ approvers: CHANNEL }, 'approvers'],
    [{ approvers: [] }, 'approvers'],
    [{ approvers: [CHANNEL, `${CHANNEL}0`] }, 'approvers[1]'],
    [{ approvers: [CHANNEL.toUpperCase()] }, 'approvers[0]'],
    [{ description: '' }, 'description'],
    [{ description: 'two\nlines' }, 'description'],
    [{ description: 'two\u2028lines' }, 'description'],
    [{ description: 'left \u202eright' }, 'description'],
    [{ description: 'a'.repeat(501) }, 'description'],
    [{ amount_lt: 5 }, 'amount_lt'],
    [{ constructor: 1 }, 'constructor'],
    [JSON.parse('{"__proto__": {"action": "*"}}'), '__proto__'],
  ])('refuses the field %j at %s', (fields, path) => {
    expect(badField(fields)).toBe(`rules[0].${path}`);
  });

  it.each([
    '',
    '.',
    '*',
    '*.',
    'example',
    'Example.com',
    'bücher.de',
    'exаmple.com',
    'example.com.',
    '.example.com',
    'a..com',
    '*example.com',
    'a.*.com',
    '*.*.com',
    '*.Example.com',
    '@a.com',
    'me@a.com',
    'https://a.com',
    'a.com/',
    'a.com:25',
    'a b.com',
    'a.com ',
    'a_b.com',
    '-a.com',
    'a-.com',
    '1.2.3.4',
    '[::1]',
    '0x7f.1',
    '127.1',
    'xn--a.com',
    'xn--.com',
    `${'a'.repeat(64)}.com`,
    `${'a.'.repeat(126)}com`,
    'a\0.com',
    'a.com\n',
    'ａ.com',
    '%61.com',
  ])('refuses the domain %j', (domain) => {
    expect(badField({ recipient_domains: ['a.com', domain] })).toBe(
      'rules[0].recipient_domains[1]',
    );
  });

  it('says how a domain is written', () => {
    const at = 'rules[0].recipient_domains[0]: ';
    expect(domainHint('Bücher.DE')).toBe(
      `${at}Write the domain in lower-case ASCII: \`xn--bcher-kva.de\`.`,
    );
    expect(domainHint('*.exаmple.com')).toBe(
      `${at}Write the domain in lower-case ASCII: \`*.xn--exmple-4nf.com\`.`,
    );
    expect(domainHint('me@a.com')).toBe(
      `${at}Write a domain such as \`example.com\`, or \`*.example.com\` for all its subdomains.`,
    );
  });

  it('names the first of several bad fields, as they are written', () => {
    expect(badField({ risk: 'x', amount_lte: 'y', nonsense: 1 })).toBe('rules[0].risk');
    expect(badField({ nonsense: 1, amount_lte: 'y', risk: 'x' })).toBe('rules[0].nonsense');
    expect(badPath({ rules: [{ efect: 'deny' }] })).toBe('rules[0].efect');
    expect(badPath({ rules: [{ effect: 'deny' }, { effect: 'x' }], more: 1 })).toBe(
      'rules[1].effect',
    );
  });

  it('refuses an id that is taken, also by the place of a rule', () => {
    const deny = { effect: 'deny' };
    expect(badPath({ rules: [{ ...deny, id: 'a' }, deny, { id: 'a', ...deny }] })).toBe(
      'rules[2].id',
    );
    expect(badPath({ rules: [{ ...deny, id: 'rule-2' }, deny] })).toBe('rules[1].id');
    expect(badPath({ rules: [deny, { ...deny, id: 'rule-1' }] })).toBe('rules[1].id');
    expect(badPath({ rules: [{ ...deny, id: 'constructor' }, deny] })).toBeNull();
  });

  it('refuses more than fits into a body', () => {
    const rule = { effect: 'deny', description: 'ü'.repeat(500) };
    expect(badPath({ rules: Array.from({ length: 90 }, () => rule) })).toBeNull();
    expect(badPath({ rules: Array.from({ length: 100 }, () => rule) })).toBe('rules');
  });

  it('is not impressed by a million characters', () => {
    for (const field of ['id', 'effect', 'action', 'tool', 'risk', 'description', 'amount_gt']) {
      expect(badField({ [field]: BIG })).toBe(`rules[0].${field}`);
    }
    for (const domain of [BIG, `${'a.'.repeat(500_000)}com`, `${'xn--'.repeat(250_000)}.com`]) {
      expect(badField({ recipient_domains: [domain] })).toBe('rules[0].recipient_domains[0]');
    }
    expect(badField({ [BIG]: 1 })?.length).toBeLessThan(300);
    expect(badField({ 'a\u202e\n"]': 1 })).toBe(String.raw`rules[0]["a\u{202e}\n\"]"]`);
  });

  it('reads its own answer as the same document', () => {
    fc.assert(
      fc.property(writtenPolicy, (written) => {
        const parsed = parsePolicy(written);
        const text = JSON.stringify(parsed);
        expect(JSON.stringify(parsePolicy(JSON.parse(text)))).toBe(text);
        expect(parsed.rules).toHaveLength(written.rules.length);
      }),
    );
  });

  it('throws nothing but POLICY_INVALID with a path, whatever it is given', () => {
    fc.assert(
      fc.property(
        fc.anything({ withNullPrototype: true, withSparseArray: true, withBigInt: true }),
        (value) => {
          expect(badPath(value)).toMatch(/^(?:policy$|rules|[A-Za-z_[])/);
          badPath({ rules: value });
          badPath({ rules: [value] });
        },
      ),
    );
  });

  it('names the field that was spoilt', () => {
    fc.assert(
      fc.property(
        writtenPolicy.filter(({ rules }) => rules.length > 0),
        fc.nat(),
        fc.nat(),
        fc.constantFrom(null, {}, true, NaN, '\n', [[]], [{}], Symbol('x')),
        ({ rules }, which, field, junk) => {
          const index = which % rules.length;
          const names = Object.keys(rules[index] ?? {});
          const name = names[field % names.length] ?? '';
          const spoilt = rules.map((rule, at) => (at === index ? { ...rule, [name]: junk } : rule));
          expect([`rules[${index}].${name}`, `rules[${index}].${name}[0]`]).toContain(
            badPath({ rules: spoilt }),
          );
        },
      ),
    );
  });
});
