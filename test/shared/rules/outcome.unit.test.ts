import { describe, expect, it } from 'vitest';
import { outcomeOf, type OutcomeEvent } from '../../../shared/rules/requests/outcome.ts';

const DECIDED = Date.UTC(2026, 0, 2, 14, 2);
const MINUTE = 60_000;

function outcome(given: Partial<OutcomeEvent>, afterMs = 60 * MINUTE) {
  const event = { status: 'pending', attempts: 0, finishedAt: null, result: null, reason: null };
  return outcomeOf({ ...event, ...given } as OutcomeEvent, DECIDED, DECIDED + afterMs);
}

const finishedAt = '2026-01-02T14:03:00.000Z';
const at = Date.parse(finishedAt);

describe('what became of a decision', () => {
  it.each([
    ['"merged 3f2a\\nand more"', 'merged 3f2a'],
    ['"\\n\\n  second"', 'second'],
    ['{"merged":"3f2a","n":12345678901234567890}', '{"merged":"3f2a","n":12345678901234567890}'],
    ['null', null],
    ['"  "', null],
    [null, null],
    [JSON.stringify('é'.repeat(200)), 'é'.repeat(200)],
    [JSON.stringify('😀'.repeat(201)), `${'😀'.repeat(199)}…`],
  ])('is the first line of the result: %s', (result, words) => {
    expect(outcome({ status: 'done', finishedAt, result })).toEqual({ kind: 'done', at, words });
  });

  it('is the reason when the event is dead', () => {
    const given = { status: 'dead', finishedAt, reason: '"no access"', result: '"old"' } as const;
    expect(outcome(given)).toEqual({ kind: 'dead', at, words: 'no access' });
  });

  it.each([
    [30 * MINUTE - 1, 0, null],
    [30 * MINUTE, 0, { kind: 'idle', tried: false }],
    [30 * MINUTE, 1, { kind: 'idle', tried: true }],
  ])('is that nobody took it up, %d ms later with %d attempts', (ms, attempts, expected) => {
    expect(outcome({ attempts }, ms)).toEqual(expected);
  });

  it.each(['claimed', 'failed', 'waiting'] as const)('is open while it is %s', (status) => {
    expect(outcome({ status })).toBeNull();
  });
});
