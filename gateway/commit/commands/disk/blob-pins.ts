import { unavailable } from '../../../../shared/lib/errors.ts';
import type { Deletion, Job, Command } from '../../context/job.ts';

/**
 * A pin lasts this long. A gateway receives the bytes before it pins them, so only a write of those bytes and a
 * transaction happen under a pin. If that takes longer, `BlobRepository.addReference` refuses it.
 */
const PIN_MS = 3_600_000;
/**
 * An erasure ends after this long, finished or not. A bucket rejects the delete request one minute after it was
 * signed. A gateway that finds the erasure lapsed may have a fast clock, but by less than the 15 minutes that a
 * bucket accepts in its signatures.
 */
const ERASURE_MS = 1_200_000;

interface Pin {
  readonly digest: string;
  readonly holder: string;
  /** Another caller in the same process relies on its pin. */
  readonly isHeld: boolean;
  readonly now: number;
}

/**
 * Pins a blob before its bytes are stored; false while the blob is being erased. UNAVAILABLE if a caller relies on a
 * lapsed pin: a new pin would let that caller name bytes that may be gone.
 */
export const pinBlob: Command<Pin, boolean> = {
  async run({ store }, { digest, holder, isHeld, now }) {
    const pin = { digest, holder, until: now + PIN_MS };
    if (!isHeld) return store.blobPins.pin(pin, now);
    if (await store.blobPins.renew(pin)) return true;
    throw unavailable(1, new Error(`The pin of blob ${digest} has lapsed.`));
  },
};

interface Claim {
  readonly digest: string;
  /** The same transaction removes this holder's own pin. */
  readonly holder: string;
  readonly claim: string;
  readonly now: number;
}

/** Starts to erase a blob; false if a row names it, a pin protects it, or another erasure is under way. */
export const claimErasure: Command<Claim, boolean> = {
  async run({ store }, { digest, holder, claim, now }) {
    await store.blobPins.unpin(digest, holder);
    return store.blobPins.claim({ digest, claim, until: now + ERASURE_MS }, now);
  },
};

/** Ends an erasure after the bytes are gone; false if the claim had already lapsed and been removed. */
export const endErasure: Command<Pick<Claim, 'digest' | 'claim'>, boolean> = {
  run: ({ store }, { digest, claim }) => store.blobPins.endErasure(digest, claim),
};

/** Deletes lapsed pins and erasures, which dead processes left; returns how many. Their blobs are erased next. */
export const dropPins: Command<Deletion, number> = {
  async run({ store, emit }: Job, { asOf, limit }) {
    const { count, digests } = await store.blobPins.deleteLapsed(asOf, limit);
    for (const digest of digests) {
      if (!(await store.blobs.isReferenced(digest))) emit({ kind: 'blob_dropped', digest });
    }
    return count;
  },
};
