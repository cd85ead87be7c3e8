import { ServiceError } from '../../shared/lib/errors.ts';
import { LOGINS_PER_ADDRESS, LOGINS_WINDOW_MS } from '../../shared/lib/limits.ts';
import { pluralize } from '../../shared/lib/pluralize.ts';
import { networkOf } from '../lib/client-address.ts';

const OTHER_NETWORK =
  'Many people started sign-ins from your network. Sooner: use another network, or a key from a machine that is signed in.';
/** Above this many addresses, those without a recent sign-in are dropped. */
const ADDRESSES_MAX = 10_000;

/**
 * Limits started sign-ins per network address. It counts in memory, so a restart resets it; the limit per mailbox
 * stays.
 */
export class StartLimit {
  readonly #times = new Map<string, readonly number[]>();

  /** Counts one sign-in; RATE_LIMITED if the address has none left. */
  take(address: string, now: number): void {
    const network = networkOf(address);
    const recent = recentOf(this.#times.get(network), now);
    const oldest = recent[0] ?? now;
    if (recent.length >= LOGINS_PER_ADDRESS)
      throw rateLimited(oldest + LOGINS_WINDOW_MS - now, OTHER_NETWORK);
    this.#times.set(network, [...recent, now]);
    if (this.#times.size > ADDRESSES_MAX) this.#forgetOld(now);
  }

  #forgetOld(now: number): void {
    for (const [network, times] of this.#times) {
      if (recentOf(times, now).length === 0) this.#times.delete(network);
    }
  }
}

/** RATE_LIMITED for `ms` milliseconds. `sooner` says what helps before. */
export function rateLimited(ms: number, sooner?: string): ServiceError {
  const seconds = Math.max(1, Math.ceil(ms / 1000));
  const wait = `Wait ${pluralize(seconds, 'second')}.`;
  return new ServiceError('RATE_LIMITED', {
    hint: sooner === undefined ? wait : `${wait} ${sooner}`,
    details: { retry_after: seconds },
  });
}

function recentOf(times: readonly number[] = [], now: number): readonly number[] {
  return times.filter((at) => at > now - LOGINS_WINDOW_MS);
}
