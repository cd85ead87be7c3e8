import type { BackoffRange } from './backoff.ts';
import { SILENCE_MAX_MS } from './freshness.ts';

export interface ReplicaTiming {
  /** A stream that says nothing for longer is dead. */
  readonly silenceMs: number;
  /** A synchronization that moves nothing for longer is given up. */
  readonly syncSilenceMs: number;
  /** Between attempts to reach the gateway: short, as what happened meanwhile shows only when it is met again. */
  readonly connect: BackoffRange;
  /** Before a damaged copy is made anew, and before a disk without room is tried again. */
  readonly repair: BackoffRange;
  /** Before a gateway that refused, or does not fit, is asked again. */
  readonly askAgainMs: number;
  /** Before a gateway without replicas is asked again. */
  readonly askSeldomMs: number;
}

export const TIMING: ReplicaTiming = {
  silenceMs: SILENCE_MAX_MS,
  syncSilenceMs: 30_000,
  connect: { firstMs: 200, maxMs: 2000 },
  repair: { firstMs: 1000, maxMs: 300_000 },
  askAgainMs: 60_000,
  askSeldomMs: 3_600_000,
};
