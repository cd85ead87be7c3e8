import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compilePolicy, decidePolicy } from '../../../../shared/rules/policy/decide.ts';
import { parsePolicy } from '../../../../shared/rules/policy/document.ts';
import {
  suggestRules,
  suggestionWarning,
  withSuggestion,
  type EndedApproval,
} from '../../../../shared/rules/policy/suggest.ts';
import { subject as anySubject, writtenPolicy } from './arbitraries.ts';

const policyOf = (...rules: object[]) => compilePolicy(parsePolicy({ rules }));

/** Requests for one action that a person approved as asked, but for `changes`. */
function approved(count: number, changes: Partial<EndedApproval> = {}): EndedApproval[] {
  return Array.from({ length: count }, (_, n) => ({
    id: `req_${n}`,
    action: 'pr.merge',
    amount: null,
    risk: 'low',
    status: 'approved',
    hint: null,
    decided_by: 'chn_1',
    approvals: 1,
    bind: null,
    ended_at: 1000 - n,
    ...changes,
  }));
}

function denied(ended: EndedApproval): EndedApproval {
  return { ...ended, status: 'denied' };
}

const suggested = (ended: readonly EndedApproval[], ...rules: object[]) =>
  suggestRules(policyOf(...rules), ended);

describe('suggestRules', () => {
  it('suggests a rule after five approvals, and not after four', () => {
    expect(suggested(approved(4))).toEqual([]);
    expect(suggested(approved(5))).toMatchObject([
      {
        action: 'pr.merge',
        rule: {
          id: 'auto-pr-merge',
          effect: 'auto_approve_notify',
          action: ['pr.merge'],
          risk: ['low'],
        },
        before: null,
      },
    ]);
  });

  it.each<[string, Partial<EndedApproval>]>([
    ['a denial', { status: 'denied' }],
    ['a request that expired', { status: 'expired' }],
    ['a request for more context', { status: 'needs_context' }],
    ['high risk', { risk: 'high' }],
    ['an unknown risk', { risk: null }],
    ['a request that needed two people', { approvals: 2 }],
    ['an amount where the others have none', { amount: 5 }],
  ])('suggests nothing after %s', (_title, changes) => {
    expect(suggested([...approved(5), ...approved(1, changes)])).toEqual([]);
  });

  it('never suggests to approve whatever a shell runs, only the command that people approved', () => {
    const ran = (count: number, command: unknown, action = 'tool.Bash') =>
      approved(count, { action, bind: JSON.stringify({ command }) });
    expect(suggested([...ran(4, 'npm test'), ...ran(4, 'git status')])).toEqual([]);
    expect(suggested([...ran(5, 'npm test'), ...ran(1, 'ls').map(denied)])).toMatchObject([
      { rule: { action: ['tool.Bash'], bind: { '/command': { command: ['npm test'] } } } },
    ]);
    for (const line of ['npm test && ls', 'ls *', 'git log *', '$x', 'a\nb', 5, undefined]) {
      expect(suggested(ran(5, line))).toEqual([]);
    }
    expect(suggested(approved(9, { action: 'tool.Edit' }))).toEqual([]);
  });

  it('ignores withdrawn requests', () => {
    const withdrawn = approved(1, { status: 'expired', hint: 'withdrawn: replaced' });
    expect(suggested([...approved(5), ...withdrawn])).toHaveLength(1);
  });

  it('limits the rule to the largest amount that was approved', () => {
    const amounts = [5, 80, 20, 1, 7].flatMap((amount) => approved(1, { amount }));
    const [first] = suggested(amounts);
    expect(first?.rule.amount_lte).toBe(80);
    expect(first && suggestionWarning(first.rule)).toBeNull();
    const [without] = suggested(approved(5));
    expect(without && suggestionWarning(without.rule)).toBe(
      'No request had an amount, so this rule has no limit for amounts.',
    );
  });

  it('names medium risk too if one request had it', () => {
    const [first] = suggested([...approved(4), ...approved(1, { risk: 'medium' })]);
    expect(first?.rule.risk).toEqual(['low', 'medium']);
  });

  it('suggests nothing for an action that a pattern would widen', () => {
    expect(suggested(approved(5, { action: 'pr.*' }))).toEqual([]);
  });

  it('puts the rule before the one that sent the requests to people', () => {
    const ask = { id: 'ask', effect: 'require_approval' };
    expect(suggested(approved(5), ask)).toMatchObject([{ before: 'ask' }]);
  });

  it.each<[string, object]>([
    [
      'asks named people',
      { effect: 'require_approval', approvers: ['chn_00000000000000000000000001'] },
    ],
    ['needs two approvals', { effect: 'require_approval', approvals: 2 }],
    ['denies it', { effect: 'deny', action: 'pr.merge' }],
    ['denies some of it', { effect: 'deny', action: 'pr.merge', risk: 'low' }],
    ['approves it already', { effect: 'auto_approve', action: 'pr.*' }],
  ])('suggests nothing if a rule %s', (_title, rule) => {
    expect(suggested(approved(5), rule)).toEqual([]);
  });

  it('finds a free id', () => {
    const taken = { id: 'auto-pr-merge', effect: 'deny', action: 'other' };
    expect(suggested(approved(5), taken)).toMatchObject([{ rule: { id: 'auto-pr-merge-2' } }]);
  });

  it('puts the most approved action first', () => {
    const ended = [...approved(5), ...approved(6, { action: 'deploy' })];
    expect(suggested(ended).map(({ action }) => action)).toEqual(['deploy', 'pr.merge']);
  });

  it('never changes a decision that no person made', () => {
    const request = fc.record({
      amount: fc.constantFrom(null, 5),
      risk: fc.constantFrom('low' as const, 'medium' as const),
      action: fc.constantFrom('a', 'pay', 'pay.out'),
    });
    const tool = 'ask_approval' as const;
    const like = request.map((one) => ({ ...one, tool, recipientDomains: null }));
    const subjects = fc.oneof(anySubject, like);
    let decided = 0;
    fc.assert(
      fc.property(writtenPolicy, request, subjects, (written, asked, subject) => {
        const policy = compilePolicy(parsePolicy(written));
        for (const one of suggestRules(policy, approved(5, asked))) {
          const rules = withSuggestion(policy.rules, one);
          const before = decidePolicy(policy, subject);
          const after = decidePolicy(compilePolicy(parsePolicy({ rules })), subject);
          const isNew = after.rule?.id === one.rule.id;
          decided += Number(isNew);
          expect(isNew ? before.effect : after).toEqual(isNew ? 'require_approval' : before);
        }
      }),
      { numRuns: 500 },
    );
    expect(decided).toBeGreaterThan(5);
  });
});
