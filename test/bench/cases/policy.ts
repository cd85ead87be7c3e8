import { compilePolicy, decidePolicy } from '../../../shared/rules/policy/decide.ts';
import { parsePolicy } from '../../../shared/rules/policy/document.ts';
import type { RunBench } from '../bench.ts';
import { spread } from '../stats.ts';

const RULES = 200;
const DECISIONS = 20_000;

/** One decision of a policy of 200 rules, none of which matches: every rule is looked at. */
// eslint-disable-next-line typescript/require-await -- a bench is asynchronous; this one need not be
export const policy: RunBench = async (bench) => {
  const rules = Array.from({ length: RULES }, (_, index) => ({
    id: `rule-${index}`,
    effect: 'auto_approve',
    action: [`area-${index}.*`, `other-${index}.step`],
    amount_lte: index,
    risk: ['low', 'medium'],
  }));
  const compiled = compilePolicy(parsePolicy({ rules }));
  const subject = {
    tool: 'ask_approval',
    action: 'payment.refund',
    amount: 129.5,
    risk: 'medium',
    recipientDomains: null,
  } as const;
  const once = (): number => {
    const from = performance.now();
    for (let time = 0; time < DECISIONS; time += 1) decidePolicy(compiled, subject);
    return ((performance.now() - from) * 1000) / DECISIONS;
  };
  once();
  const rounds = Array.from({ length: bench.rounds }, once);
  return [
    {
      bench: 'policy',
      what: `a policy of ${RULES} rules decides`,
      value: { unit: 'µs', spread: spread(rounds) },
      target: { of: 'value', op: '<=', limit: 50 },
    },
  ];
};
