const MINUTE_MS = 60_000;

/** The pauses after a failed attempt (spec section 8): 1 min, 5 min, 30 min, 2 h, 12 h. */
const PAUSES_MS = [1, 5, 30, 120, 720].map((minutes) => minutes * MINUTE_MS);
const PAUSE_MAX_MS = Math.max(...PAUSES_MS);
/** Spreads deliveries that failed together over a tenth of the pause. */
const JITTER = 0.1;
const SECOND_MS = 1000;

/** The result of one attempt, as plain data. */
export type AttemptOutcome = { readonly durationMs: number } & (
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly retryAfterSeconds: number | null;
      /** The beginning of the receiver's response. */
      readonly response: string;
    }
  | {
      readonly kind: 'failed';
      /** As a sentence. */
      readonly reason: string;
      /** The egress guard refused the address; another attempt wouldn't change that. */
      readonly guard: boolean;
    }
);

export type Verdict =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'retry'; readonly dueAt: number }
  | { readonly kind: 'dead' }
  /** The receiver wants no more events. */
  | { readonly kind: 'gone' };

/**
 * Decides what follows an attempt, the `nth` of its round from 1. Retry-After can lengthen a pause, up to the longest
 * regular one. Due times are whole seconds, so that one lookup finds all deliveries due together. `jitter` is a random
 * number from 0 to 1.
 */
export function judge(
  outcome: AttemptOutcome,
  { nth, now, jitter }: { readonly nth: number; readonly now: number; readonly jitter: number },
): Verdict {
  if (outcome.kind === 'failed' && outcome.guard) return { kind: 'dead' };
  if (outcome.kind === 'answered' && isSuccess(outcome.status)) return { kind: 'delivered' };
  if (outcome.kind === 'answered' && outcome.status === GONE) return { kind: 'gone' };
  const pauseMs = PAUSES_MS[nth - 1];
  if (pauseMs === undefined) return { kind: 'dead' };
  const asked = outcome.kind === 'answered' ? (outcome.retryAfterSeconds ?? 0) * SECOND_MS : 0;
  const waitMs = Math.max(pauseMs * (1 + JITTER * jitter), Math.min(asked, PAUSE_MAX_MS));
  return { kind: 'retry', dueAt: Math.ceil((now + waitMs) / SECOND_MS) * SECOND_MS };
}

const GONE = 410;

/** We don't follow redirects, so they count as failures. */
export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}
