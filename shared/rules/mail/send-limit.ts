import { EMAILS_PER_DAY, EMAILS_PER_MONTH } from '../../lib/limits.ts';
import { monthEnd, monthOf } from './month.ts';

const DAY_MS = 86_400_000;

/** Messages requested and not cancelled. */
export interface SendUse {
  readonly today: number;
  readonly thisMonth: number;
}

/** The limit that a request for more messages exceeds. */
export interface SendLimit {
  readonly window: 'day' | 'month';
  /** Whose messages it counts. */
  readonly of: 'project' | 'account' | 'gateway';
  readonly limit: number;
  readonly used: number;
  /** Seconds until the window ends. */
  readonly retry_after: number;
}

/** Seconds until the UTC day of a time ends. */
export function dayEndSeconds(ms: number): number {
  return Math.ceil((DAY_MS - (ms % DAY_MS)) / 1000);
}

/** The UTC day of a time, such as `2026-01-31`. */
export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** The first and last day of a time's month. */
export function monthDays(ms: number): { readonly first: string; readonly last: string } {
  const month = monthOf(ms);
  return { first: `${month}-01`, last: `${month}-31` };
}

/**
 * The limit that `more` messages would exceed (spec section 8), or null. Checks the month first, because it means the
 * longer wait.
 */
export function limitPassed(use: SendUse, more: number, now: number): SendLimit | null {
  if (use.thisMonth + more > EMAILS_PER_MONTH) {
    const seconds = Math.ceil((monthEnd(now) - now) / 1000);
    return over('month', EMAILS_PER_MONTH, use.thisMonth, seconds);
  }
  if (use.today + more > EMAILS_PER_DAY) {
    return over('day', EMAILS_PER_DAY, use.today, dayEndSeconds(now));
  }
  return null;
}

function over(
  window: SendLimit['window'],
  limit: number,
  used: number,
  seconds: number,
): SendLimit {
  return { window, limit, used, of: 'project', retry_after: seconds };
}
