import { describe, expect, it } from 'vitest';
import { keepsWaiting } from '../../../cli/approvals/ask.ts';

const TERMINAL = { terminal: true, json: false };
const UNTIMED = { isTimed: false };

describe('a command that asks a person', () => {
  it('waits until someone decides on a terminal, or when it is told to', () => {
    expect(keepsWaiting({ output: TERMINAL, options: {} }, UNTIMED, {})).toBe(true);
    const piped = { output: { terminal: false, json: true }, options: { 'until-decided': true } };
    expect(keepsWaiting(piped, { isTimed: true }, {})).toBe(true);
  });

  it.each([
    ['in a pipe', { terminal: false, json: true }, {}, UNTIMED, {}],
    ['with --json', { terminal: true, json: true }, {}, UNTIMED, {}],
    ['with --wait', TERMINAL, {}, { isTimed: true }, {}],
    ['with --park', TERMINAL, { park: 'true' }, UNTIMED, {}],
    ['when another command goes on', TERMINAL, {}, UNTIMED, { next: () => 'svc file url' }],
  ] as const)('waits as long as one call may %s', (_, output, options, call, manner) => {
    expect(keepsWaiting({ output, options }, call, manner)).toBe(false);
  });
});
