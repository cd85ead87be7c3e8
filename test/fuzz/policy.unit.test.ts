import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../shared/lib/errors.ts';
import { matchesType } from '../../shared/rules/inbox/event-type.ts';
import { compilePolicy, decidePolicy } from '../../shared/rules/policy/decide.ts';
import { diffPolicies } from '../../shared/rules/policy/diff.ts';
import {
  parsePolicy,
  POLICY_EFFECTS,
  type PolicyDocument,
} from '../../shared/rules/policy/document.ts';
import { comparableDomain, domainProblem } from '../../shared/rules/policy/domain.ts';
import { explainPolicy } from '../../shared/rules/policy/explain.ts';
import { shadowedRules } from '../../shared/rules/policy/shadowed.ts';
import type { PolicySubject } from '../../shared/rules/policy/subject.ts';
import {
  subject,
  toolPolicy,
  toolSubject,
  writtenPolicy,
} from '../shared/rules/policy/arbitraries.ts';
import { corpus } from './corpus.ts';
import { hostileText, hostileValue, mutated } from './hostile.ts';
import { each, fuzz, unmet, HUNG_MS } from './runs.ts';
import { growsInProportion } from '../helpers/growth.ts';

const TOKENS = [
  '"',
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '*',
  '-0',
  '1e999',
  '\\u0000',
  '\\ud800',
  'null',
];

/** Any call, with texts that nobody would write. */
const hostileSubject: fc.Arbitrary<PolicySubject> = fc.record({
  tool: fc.constantFrom('ask_approval', 'file_url', 'email_send'),
  action: fc.option(hostileText),
  amount: fc.option(fc.double()),
  risk: fc.option(fc.constantFrom('low', 'medium', 'high')),
  recipientDomains: fc.option(fc.array(hostileText, { maxLength: 4 })),
});
const anySubject = fc.oneof(subject, hostileSubject, toolSubject);
const anyPolicy = fc.oneof(writtenPolicy, toolPolicy);
const SUBJECTS = fc.sample(anySubject, { numRuns: 8, seed: 1 });

/** The faults in how a document is read, and in its decisions. */
function faultsOf(value: unknown, subjects: readonly PolicySubject[] = SUBJECTS): string[] {
  const document = read(value);
  if (typeof document === 'string') return document === '' ? [] : [document];
  return subjects.flatMap((one) => decisionFaults(document, one));
}

/** The document, or the faults of its refusal: empty for a correct one. */
function read(value: unknown): PolicyDocument | string {
  try {
    return parsePolicy(value);
  } catch (error) {
    if (!(error instanceof ServiceError)) return `it threw ${String(error)}`;
    const path = error.details?.['path'];
    return unmet({
      'its code is POLICY_INVALID': error.code === 'POLICY_INVALID',
      'it names a path': typeof path === 'string' && path !== '',
      'it can be shown': error.hint?.isWellFormed() === true && String(path).isWellFormed(),
    }).join();
  }
}

function decisionFaults(document: PolicyDocument, one: PolicySubject): string[] {
  const verdict = decidePolicy(compilePolicy(document), one);
  const again = parsePolicy(JSON.parse(JSON.stringify(document)));
  const same = decidePolicy(compilePolicy(again), one);
  const lines = [...diffPolicies({ rules: [] }, document), ...diffPolicies(document, again)];
  shadowedRules(document);
  return unmet({
    'its effect is known': POLICY_EFFECTS.includes(verdict.effect),
    'it decides the same when it was written and read': same.rule?.id === verdict.rule?.id,
    'it decides the same when it is explained':
      explainPolicy(document, one).effect === verdict.effect,
    'its texts are of one line that can be seen':
      !/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/u.test(textsOf(document).join('')),
    'nothing is allowed by no rule': verdict.rule !== null || verdict.effect === 'require_approval',
    // oxlint-disable-next-line no-control-regex -- none of these may be there
    'what people read has no control in it': !/[\u0000-\u001f\u202a-\u202e]/.test(lines.join('')),
  });
}

function textsOf({ rules }: PolicyDocument): string[] {
  return rules.flatMap(({ id, action = [], description = '' }) => [id, ...action, description]);
}

describe('a policy', () => {
  it('of the corpus is refused in words, or decides', async () => {
    const all = corpus('policy');
    expect(await each(all, ({ bytes }) => faultsOf(JSON.parse(bytes.toString())))).toEqual([]);
    expect(({} as Record<string, unknown>)['effect']).toBeUndefined();
  });

  it(
    'that holds decides about any call',
    async () => {
      const both = fc.tuple(anyPolicy, fc.array(anySubject, { maxLength: 5 }));
      expect(await fuzz(both, 300, ([one, calls]) => faultsOf(one, calls))).toBeNull();
    },
    HUNG_MS,
  );

  it(
    'with any text in one of its fields is refused in words, or decides',
    async () => {
      const field = fc.constantFrom(
        'id',
        'action',
        'description',
        'recipient_domains',
        'approvers',
      );
      const changed = fc
        .tuple(anyPolicy, field, hostileText, fc.boolean())
        .map(([{ rules }, name, text, isListed]) => ({
          rules: [{ effect: 'deny', [name]: isListed ? [text] : text }, ...rules],
        }));
      expect(await fuzz(changed, 400, (one) => faultsOf(one))).toBeNull();
    },
    HUNG_MS,
  );

  it(
    'of any JSON is refused in words',
    async () => {
      const rule = fc.dictionary(
        fc.constantFrom('id', 'effect', 'action', 'tool', 'amount_lte', 'risk', '__proto__', 'x'),
        hostileValue,
      );
      const test = fc.dictionary(fc.constantFrom('command', 'under', 'in', 'x'), hostileValue);
      const bind = fc.dictionary(fc.oneof(fc.constantFrom('/command', ''), hostileText), test);
      const binding = fc.record({ effect: fc.constantFrom('deny', 'allow'), bind });
      const rules = fc.array(fc.oneof(rule, binding, hostileValue), { maxLength: 3 });
      const value = fc.oneof(
        hostileValue,
        fc.record({ rules }),
        fc.record({ rules: hostileValue }),
      );
      expect(await fuzz(value, 400, (one) => faultsOf(one))).toBeNull();
    },
    HUNG_MS,
  );

  it(
    'that was changed on its way is refused in words, or decides',
    async () => {
      const texts = fc
        .oneof(
          anyPolicy.map((one) => Buffer.from(JSON.stringify(one))),
          fc.constantFrom(...corpus('policy').map(({ bytes }) => bytes)),
        )
        .chain((bytes) => mutated(bytes, TOKENS));
      const fault = await fuzz(texts, 400, (bytes) => {
        const value = parsed(bytes);
        return value === undefined ? [] : faultsOf(value);
      });
      expect(fault).toBeNull();
    },
    HUNG_MS,
  );
});

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}

const MEBI = 1024 * 1024;

describe('a text of a megabyte', () => {
  const star = { rules: [{ effect: 'deny', action: ['a*', `${'a'.repeat(199)}*`, 'b*'] }] };
  const domains = { rules: [{ effect: 'deny', recipient_domains: ['*.a.com', '*.com', 'a.com'] }] };
  const actions = compilePolicy(parsePolicy(star));
  const recipients = compilePolicy(parsePolicy(domains));
  const none = { tool: 'ask_approval', amount: null, risk: null, recipientDomains: null } as const;
  const works: [string, (text: string) => unknown][] = [
    ['as an action', (action) => decidePolicy(actions, { ...none, action })],
    [
      'as a recipient',
      (text) =>
        decidePolicy(recipients, {
          ...none,
          tool: 'email_send',
          action: null,
          recipientDomains: [text, `${text}.a.com`],
        }),
    ],
    ['as a domain', comparableDomain],
    ['as the domain of a rule', domainProblem],
    ['as the type of an event', (text) => matchesType(`${'a'.repeat(200)}*`, text)],
    ['as a pattern of types', (text) => matchesType(`${text}*`, text)],
    [
      'as a rule',
      (text) => read({ rules: [{ effect: 'allow', action: text, description: text }] }),
    ],
    ['as a name in a rule', (text) => read({ rules: [{ [text]: 1 }] })],
  ];
  const shapes = ['a', '*', 'a.', '.', 'é', '\u200b', '-', '\ud800'];

  it.each(works)('%s takes time in proportion to its length', (_name, work) => {
    const tooMuch = shapes.filter(
      (shape) => !growsInProportion((length) => work(shape.repeat(length / shape.length)), MEBI),
    );
    expect(tooMuch).toEqual([]);
  });
});
