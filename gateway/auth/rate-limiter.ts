import { ServiceError } from '../../shared/lib/errors.ts';
import { RATE_BURST } from '../../shared/lib/limits.ts';
import { rateLimitHeaders, takeToken, type BucketState } from './token-bucket.ts';
import { pluralize } from '../../shared/lib/pluralize.ts';

/** Above this many buckets, full ones are dropped. */
const BUCKETS_MAX = 10_000;

/** Limits calls per minute and key. It counts in memory, so a restart resets it. */
export class RateLimiter {
  readonly #perMinute: number;
  readonly #buckets = new Map<string, BucketState>();

  /** 0 turns limits off. */
  constructor(perMinute: number) {
    this.#perMinute = perMinute;
  }

  /** Counts one call and returns the RateLimit headers; RATE_LIMITED if no call is left. */
  take(keyId: string, now: number): Readonly<Record<string, string>> {
    if (this.#perMinute === 0) return {};
    const rule = { perMinute: this.#perMinute, burst: RATE_BURST };
    const result = takeToken(this.#buckets.get(keyId), rule, now);
    this.#buckets.set(keyId, result.state);
    if (this.#buckets.size > BUCKETS_MAX) this.#forgetFull(now);
    const headers = rateLimitHeaders(rule, result);
    if (result.allowed) return headers;
    const retryAfter = result.retryAfterSeconds;
    throw new ServiceError('RATE_LIMITED', {
      hint: `Wait ${pluralize(retryAfter, 'second')}.`,
      details: { retry_after: retryAfter },
      headers,
    });
  }

  /** A bucket that is full again equals a new one. */
  #forgetFull(now: number): void {
    for (const [keyId, { tokens, atMs }] of this.#buckets) {
      const fullAt = atMs + ((RATE_BURST - tokens) * 60_000) / this.#perMinute;
      if (now >= fullAt) this.#buckets.delete(keyId);
    }
  }
}
