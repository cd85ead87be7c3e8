import { describe, expect, it } from 'vitest';
import { Rates } from '../../gateway/auth/rates.ts';

const headerOf = (rates: Rates, keyId: string, now: number): string | undefined =>
  rates.take(keyId, now)['RateLimit'];

describe('the rate of a key', () => {
  it('is not forgiven because many others call, when a minute does not fill the bucket', () => {
    const rates = new Rates(10);
    const keys = Array.from({ length: 10_000 }, (_, n) => `key_${n}`);
    for (let n = 0; n < 100; n += 1) rates.take('busy', 0);
    for (const key of keys) rates.take(key, 60_000);
    expect(headerOf(rates, 'busy', 60_000)).toContain('r=9;');
    // 100 calls at 10 a minute are back after 10 minutes.
    for (const key of keys) rates.take(`${key} later`, 661_000);
    expect(headerOf(rates, 'busy', 661_000)).toContain('r=99;');
  });
});
