import { expect, it } from 'vitest';
import { endingOf, reasonOf, withdrawalOf } from '../../../cli/approvals/decision.ts';

it.each([
  ['withdrawn', 'withdrawn: a newer one is ready.', 'Withdrawn: a newer one is ready.'],
  ['unused', 'unused: the prompt has gone.', 'Too late for the agent: the prompt has gone.'],
  ['stopped', 'stopped: a person stopped this session.', 'A person stopped this session.'],
  [null, 'The plan: merge first.', null],
])(
  'a request that ended as %s says so in a sentence, and an older server in the hint',
  (reason, hint, text) => {
    expect(endingOf({ reason, hint })).toBe(text);
    expect(reasonOf({ hint })).toBe(reason);
    expect(withdrawalOf({ hint })).toBe(reason === 'withdrawn' ? text : null);
  },
);
