import { assert, double, integer, nat, property } from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  isSuccess,
  judge,
  type AttemptOutcome,
} from '../../../shared/rules/inbox/retry-schedule.ts';

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5);
const MINUTE_MS = 60_000;

const answered = (status: number, retryAfterSeconds: number | null = null): AttemptOutcome => ({
  kind: 'answered',
  status,
  retryAfterSeconds,
  response: '',
  durationMs: 5,
});
const failed = (guard: boolean): AttemptOutcome => ({
  kind: 'failed',
  reason: 'No.',
  guard,
  durationMs: 5,
});

/** Milliseconds to the next attempt after the nth of a round, or the verdict. */
function pauseAfter(nth: number, outcome = answered(500), jitter = 0): number | string {
  const verdict = judge(outcome, { nth, now: NOW, jitter });
  return verdict.kind === 'retry' ? verdict.dueAt - NOW : verdict.kind;
}

describe('the schedule', () => {
  it('pauses 1, 5, 30, 120 and 720 minutes, then gives up', () => {
    expect([1, 2, 3, 4, 5, 6, 7].map((nth) => pauseAfter(nth))).toEqual([
      60_000,
      300_000,
      1_800_000,
      7_200_000,
      43_200_000,
      'dead',
      'dead',
    ]);
  });

  it('spreads what failed together over a tenth of the pause', () => {
    expect(pauseAfter(2, answered(500), 1)).toBe(330_000);
    expect(pauseAfter(5, failed(false), 0.5)).toBe(45_360_000);
  });

  it('is in whole seconds, never early', () => {
    assert(
      property(
        integer({ min: 1, max: 5 }),
        double({ min: 0, max: 1, noNaN: true }),
        nat(10_000),
        (nth, jitter, offset) => {
          const now = NOW + offset;
          const verdict = judge(answered(503), { nth, now, jitter });
          const dueAt = verdict.kind === 'retry' ? verdict.dueAt : Number.NaN;
          const pauseMs = [1, 5, 30, 120, 720][nth - 1] ?? 0;
          expect(dueAt % 1000).toBe(0);
          expect(dueAt - now).toBeGreaterThanOrEqual(pauseMs * MINUTE_MS);
          expect(dueAt - now).toBeLessThanOrEqual(pauseMs * MINUTE_MS * 1.1 + 1000);
        },
      ),
    );
  });
});

describe('Retry-After', () => {
  it('makes a pause longer, not shorter', () => {
    expect(pauseAfter(1, answered(429, 600))).toBe(600_000);
    expect(pauseAfter(2, answered(503, 10))).toBe(300_000);
  });

  it('makes none longer than the longest', () => {
    expect(pauseAfter(1, answered(503, 86_400))).toBe(43_200_000);
  });

  it('gives no attempt beyond the last', () => {
    expect(pauseAfter(6, answered(503, 1))).toBe('dead');
  });
});

describe('an outcome', () => {
  it.each([200, 201, 204, 299])('of %i is a delivery', (status) => {
    expect(pauseAfter(1, answered(status))).toBe('delivered');
    expect(pauseAfter(6, answered(status))).toBe('delivered');
    expect(isSuccess(status)).toBe(true);
  });

  it.each([100, 199, 300, 301, 302, 307, 400, 404, 408, 409, 411, 429, 500, 503])(
    'of %i is a failure',
    (status) => {
      expect(pauseAfter(1, answered(status))).toBe(60_000);
      expect(isSuccess(status)).toBe(false);
    },
  );

  it('of 410 ends it all', () => {
    expect(pauseAfter(1, answered(410))).toBe('gone');
    expect(pauseAfter(6, answered(410))).toBe('gone');
  });

  it('without an answer is a failure, and a refusal of ours the last', () => {
    expect(pauseAfter(1, failed(false))).toBe(60_000);
    expect(pauseAfter(1, failed(true))).toBe('dead');
  });
});
