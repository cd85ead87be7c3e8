import type { BlobStore, LongContext, ReadContext } from './context.ts';
import { ServiceError } from '../lib/errors.ts';
import type { Pace } from './pace.ts';
import type { Waits } from './waits.ts';

/** Where a long call reads and waits. */
export interface LongSite {
  readonly blobs: BlobStore;
  readonly waits: Waits;
  readonly pace: Pace;
  /** Reads one snapshot of the project. */
  readonly read: LongContext['read'];
  /** The time of each read, in milliseconds. */
  readonly now: () => number;
}

/** The context of a long call; `signal` is aborted when its caller is gone. */
export function longContext(
  base: Omit<ReadContext, 'store'>,
  { blobs, waits, pace, read, now }: LongSite,
  signal: AbortSignal,
): LongContext {
  return {
    blobs,
    read,
    breathe: async () => {
      await pace.breathe();
      signal.throwIfAborted();
    },
    alone: (work) => pace.alone('long reads', work, signal),
    waitFor: ({ check, concerns, timeoutSeconds, counted }) =>
      waits.wait({
        counted,
        keyId: base.caller.keyId,
        requestId: base.caller.requestId,
        concerns,
        check: () =>
          read(async (store) => {
            // The key may have been revoked between its check and the start of the wait.
            const key = await store.keys.find(base.caller.keyId);
            if (key?.revoked_at !== null) throw new ServiceError('KEY_REVOKED');
            return check(store, now());
          }),
        timeoutMs: timeoutSeconds * 1000,
        signal,
      }),
    ...base,
  };
}
