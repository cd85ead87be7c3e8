import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  rateLimitHeaders,
  takeToken,
  type BucketState,
} from '../../../gateway/auth/token-bucket.ts';

const RULE = { perMinute: 600, burst: 3 };

describe('takeToken', () => {
  it('allows a burst, then refuses until a token has come in', () => {
    let state: BucketState | undefined;
    for (const remaining of [2, 1, 0]) {
      const taken = takeToken(state, RULE, 1000);
      expect(taken).toMatchObject({ allowed: true, remaining, retryAfterSeconds: 0 });
      state = taken.state;
    }
    const refused = takeToken(state, RULE, 1099);
    expect(refused).toMatchObject({
      allowed: false,
      remaining: 0,
      retryAfterSeconds: 1,
      resetSeconds: 1,
    });
    expect(takeToken(refused.state, RULE, 1100)).toMatchObject({ allowed: true, remaining: 0 });
  });

  it('tells the seconds to wait and to be full, rounded up', () => {
    const rule = { perMinute: 2, burst: 4 };
    const empty = { tokens: 0, atMs: 0 };
    expect(takeToken(empty, rule, 0)).toMatchObject({ retryAfterSeconds: 30, resetSeconds: 120 });
    expect(takeToken(empty, rule, 29_999)).toMatchObject({ allowed: false, retryAfterSeconds: 1 });
    expect(takeToken(empty, rule, 30_000)).toMatchObject({ allowed: true, resetSeconds: 120 });
  });

  it('never holds more than the burst', () => {
    expect(takeToken({ tokens: 0, atMs: 0 }, RULE, 1e12)).toMatchObject({ remaining: 2 });
  });

  it('gives nothing for a clock that went back, and goes on from there', () => {
    const back = takeToken({ tokens: 0, atMs: 86_400_000 }, RULE, 0);
    expect(back).toMatchObject({ allowed: false, state: { tokens: 0, atMs: 0 } });
    expect(takeToken(back.state, RULE, 100).allowed).toBe(true);
  });

  it('allows no more than burst plus refill, however the calls fall', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 500 }), { maxLength: 200 }), (waits) => {
        let state: BucketState | undefined;
        let now = 0;
        let allowed = 0;
        for (const wait of waits) {
          now += wait;
          const taken = takeToken(state, RULE, now);
          state = taken.state;
          if (taken.allowed) allowed += 1;
          expect(taken.remaining).toBeGreaterThanOrEqual(0);
          expect(taken.allowed || taken.retryAfterSeconds >= 1).toBe(true);
        }
        expect(allowed).toBeLessThanOrEqual(RULE.burst + now / 100 + 1e-6);
      }),
    );
  });
});

describe('rateLimitHeaders', () => {
  it('writes structured fields', () => {
    const rule = { perMinute: 600, burst: 100 };
    expect(rateLimitHeaders(rule, takeToken(undefined, rule, 0))).toEqual({
      'RateLimit-Policy': '"key";q=600;w=60',
      RateLimit: '"key";r=99;t=1',
    });
  });
});
