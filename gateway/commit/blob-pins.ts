import { unavailable } from '../../shared/lib/errors.ts';
import type { Deletion, Job, Command } from './job.ts';

/**
 * A pin holds for this long after it was set. Bytes come in before they are pinned, so what is done under a pin is a write
 * of bytes at hand and a transaction. Whoever needs longer all the same is refused: see `BlobRepository.addReference`.
 */
const PIN_MS = 3_600_000;
/**
 * An erasure is over after this long, done or not. A bucket refuses it a minute after it was signed. Whoever finds it
 * lapsed may have a clock that is ahead, but by less than the 15 minutes within which a bucket takes his signatures.
 */
const ERASURE_MS = 1_200_000;

interface Pin {
  readonly digest: string;
  readonly holder: string;
  /** Somebody else in the same process relies on its pin. */
  readonly isHeld: boolean;
  readonly now: number;
}

/**
 * Pins a blob before its bytes are stored; false while it is being erased. UNAVAILABLE when somebody relies on a pin that
 * has lapsed: a new one would let him name bytes that are gone.
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
  /** Lets go of its own pin with it. */
  readonly holder: string;
  readonly claim: string;
  readonly now: number;
}

/** Begins to erase a blob; false when a row names it, somebody has pinned it, or somebody erases it. */
export const claimErasure: Command<Claim, boolean> = {
  async run({ store }, { digest, holder, claim, now }) {
    await store.blobPins.unpin(digest, holder);
    return store.blobPins.claim({ digest, claim, until: now + ERASURE_MS }, now);
  },
};

/** The bytes are gone. False when the claim was not there any more by then. */
export const endErasure: Command<Pick<Claim, 'digest' | 'claim'>, boolean> = {
  run: ({ store }, { digest, claim }) => store.blobPins.endErasure(digest, claim),
};

/** Deletes pins and erasures whose process has died; answers how many. What they were about is erased. */
export const dropPins: Command<Deletion, number> = {
  async run({ store, emit }: Job, { asOf, limit }) {
    const { count, digests } = await store.blobPins.deleteLapsed(asOf, limit);
    for (const digest of digests) {
      if (!(await store.blobs.isReferenced(digest))) emit({ kind: 'blob_dropped', digest });
    }
    return count;
  },
};
