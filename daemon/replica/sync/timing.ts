import type { BackoffRange } from './backoff.ts';
import { SILENCE_MAX_MS } from '../serve/freshness.ts';

export interface ReplicaTiming {
  /** A stream that stays silent for longer is dead. */
  readonly silenceMs: number;
  /** We give up on a sync without progress for this long. */
  readonly syncSilenceMs: number;
  /** Between attempts to reach the gateway. Short, because changes become visible only after the next contact. */
  readonly connect: BackoffRange;
  /** Before another download of a damaged replica, and before a retry after a full disk. */
  readonly repair: BackoffRange;
  /** Before we ask a gateway again that refused the key or has another schema. */
  readonly askAgainMs: number;
}

export const TIMING: ReplicaTiming = {
  silenceMs: SILENCE_MAX_MS,
  syncSilenceMs: 30_000,
  connect: { firstMs: 200, maxMs: 700 },
  repair: { firstMs: 1000, maxMs: 300_000 },
  askAgainMs: 60_000,
};
