import type { BlobStore, LongContext, ReadContext } from './context.ts';
import { ServiceError } from '../lib/errors.ts';
import type { Waits } from './waits.ts';

/** Where a call that takes its time looks and waits. */
export interface LongSite {
  readonly blobs: BlobStore;
  readonly waits: Waits;
  /** One snapshot of the project. */
  readonly read: LongContext['read'];
  /** The time of each look, in milliseconds. */
  readonly now: () => number;
}

/** The context of a call that takes its time; `signal` says that its caller has gone. */
export function longContext(
  base: Omit<ReadContext, 'store'>,
  { blobs, waits, read, now }: LongSite,
  signal: AbortSignal,
): LongContext {
  return {
    blobs,
    read,
    breathe: async () => {
      await new Promise((resolve) => setImmediate(resolve));
      signal.throwIfAborted();
    },
    waitFor: ({ look, concerns, timeoutSeconds, counted }) =>
      waits.wait({
        counted,
        keyId: base.caller.keyId,
        concerns,
        look: () =>
          read(async (store) => {
            // Revoked after the key was checked, before the wait was there to be ended.
            const key = await store.keys.find(base.caller.keyId);
            if (key?.revoked_at !== null) throw new ServiceError('KEY_REVOKED');
            return look(store, now());
          }),
        timeoutMs: timeoutSeconds * 1000,
        signal,
      }),
    ...base,
  };
}
