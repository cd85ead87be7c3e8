import { describe, expect, it } from 'vitest';
import { RateLimiter } from '../../../gateway/auth/rate-limiter.ts';

const headerOf = (rateLimiter: RateLimiter, keyId: string, now: number): string | undefined =>
  rateLimiter.take(keyId, now)['RateLimit'];

describe('the rate of a key', () => {
  it('is not forgiven because many others call, when a minute does not fill the bucket', () => {
    const rateLimiter = new RateLimiter(10);
    const keys = Array.from({ length: 10_000 }, (_, n) => `key_${n}`);
    for (let n = 0; n < 100; n += 1) rateLimiter.take('busy', 0);
    for (const key of keys) rateLimiter.take(key, 60_000);
    expect(headerOf(rateLimiter, 'busy', 60_000)).toContain('r=9;');
    // 100 calls at 10 a minute are back after 10 minutes.
    for (const key of keys) rateLimiter.take(`${key} later`, 661_000);
    expect(headerOf(rateLimiter, 'busy', 661_000)).toContain('r=99;');
  });
});
