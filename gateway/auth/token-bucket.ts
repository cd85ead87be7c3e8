/** The tokens left at a time in integer milliseconds. */
export interface BucketState {
  tokens: number;
  atMs: number;
}

/** `burst` is the size of the bucket and `perMinute` its refill; both above zero. */
interface BucketRule {
  perMinute: number;
  burst: number;
}

interface BucketResult {
  state: BucketState;
  allowed: boolean;
  /** Whole tokens left. */
  remaining: number;
  /** 0 when allowed, otherwise 1 or more. */
  retryAfterSeconds: number;
  /** Seconds until the bucket is full again. */
  resetSeconds: number;
}

const MINUTE_MS = 60_000;

/** Takes one token if there is one. An unknown caller (undefined) starts with a full bucket. */
export function takeToken(
  state: BucketState | undefined,
  rule: BucketRule,
  nowMs: number,
): BucketResult {
  const filled = refill(state, rule, nowMs);
  const allowed = filled >= 1;
  const tokens = allowed ? filled - 1 : filled;
  return {
    state: { tokens, atMs: nowMs },
    allowed,
    remaining: Math.floor(tokens),
    retryAfterSeconds: allowed ? 0 : secondsFor(1 - tokens, rule),
    resetSeconds: secondsFor(rule.burst - tokens, rule),
  };
}

function refill(state: BucketState | undefined, rule: BucketRule, nowMs: number): number {
  if (state === undefined) return rule.burst;
  // A clock that went back refills nothing, but store its time, or refills would stop until it catches up.
  const elapsedMs = Math.max(0, nowMs - state.atMs);
  const tokens = Math.min(rule.burst, state.tokens + (elapsedMs * rule.perMinute) / MINUTE_MS);
  // Many small refills leave 0.9999999999 where a whole token is due.
  const whole = Math.round(tokens);
  return Math.abs(tokens - whole) < 1e-9 ? whole : tokens;
}

function secondsFor(tokens: number, rule: BucketRule): number {
  return Math.ceil((tokens * 60) / rule.perMinute);
}

/** RateLimit headers (draft-ietf-httpapi-ratelimit-headers-11): the policy, and the calls left. */
export function rateLimitHeaders(
  rule: BucketRule,
  result: BucketResult,
): { 'RateLimit-Policy': string; RateLimit: string } {
  return {
    'RateLimit-Policy': `"key";q=${rule.perMinute};w=60`,
    RateLimit: `"key";r=${result.remaining};t=${result.resetSeconds}`,
  };
}
