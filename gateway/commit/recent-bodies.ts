import type { Repositories } from '../../shared/store/repositories.ts';

/** So many bodies of each source are remembered. */
export const BODIES_MAX = 50_000;
/** Where they are read over a network. */
export const BODIES_MAX_SHARED = 2_000;
const KEY_BYTES = 6;

/**
 * The bodies a source brought lately, by the beginning of their hash: so that one that comes again under another id is
 * noticed. An index in the database would cost a delivery as much as all the rest of it, because hashes fall all over
 * it, and this is a hint, not a promise: beyond BODIES_MAX the oldest are forgotten. Filled from the rows at first use;
 * what is found is believed only when the row says the same, so what an undone transaction left here does no harm.
 */
export class RecentBodies {
  readonly #max: number;
  #ofSources = new Map<string, SourceBodies>();
  /** Of the newest that was read from the rows: what was added since may have been undone, and its place taken by others. */
  #readSeq = 0;
  #isComplete = false;
  /** What was known of a body before it came once more, in the transaction at hand. */
  #overwritten: Body[] = [];

  /** `max`: so many of each source. */
  constructor(max: number) {
    this.#max = max;
  }

  /** The event of a source that brought the same bytes since a time, or null. */
  async find(
    store: Repositories,
    body: { readonly sourceId: string; readonly hash: Uint8Array; readonly sinceIso: string },
  ): Promise<string | null> {
    const { sourceId, hash, sinceIso } = body;
    if (!this.#isComplete) await this.#read(store, sinceIso);
    const seq = this.#ofSources.get(sourceId)?.seqOf(hash);
    return seq === undefined ? null : store.events.deliveredAt(seq, { sourceId, hash, sinceIso });
  }

  add(sourceId: string, hash: Uint8Array, seq: number): void {
    if (!this.#isComplete) return;
    const before = this.#ofSources.get(sourceId)?.seqOf(hash);
    if (before !== undefined) this.#overwritten.push({ sourceId, hash, seq: before });
    this.#remember({ sourceId, hash, seq });
  }

  /** The transaction at hand is durable. */
  keep(): void {
    this.#overwritten = [];
  }

  /** It came to nothing: what was known before holds. A body that was new in it does no harm. */
  undo(): void {
    for (const body of this.#overwritten.toReversed()) this.#remember(body);
    this.#overwritten = [];
  }

  /** Others may have added rows: those are read before the next answer. */
  readOn(): void {
    this.#isComplete = false;
  }

  async #read(store: Repositories, sinceIso: string): Promise<void> {
    const rows = await store.events.bodiesSince(sinceIso, this.#max, this.#readSeq);
    for (const { source_id, body_hash, seq } of rows) {
      this.#remember({ sourceId: source_id, hash: body_hash, seq });
      this.#readSeq = seq;
    }
    this.#isComplete = true;
  }

  #remember({ sourceId, hash, seq }: Body): void {
    let bodies = this.#ofSources.get(sourceId);
    if (!bodies) this.#ofSources.set(sourceId, (bodies = new SourceBodies(this.#max)));
    bodies.add(hash, seq);
  }
}

interface Body {
  readonly sourceId: string;
  readonly hash: Uint8Array;
  readonly seq: number;
}

/** The newest bodies of one source. */
class SourceBodies {
  readonly #max: number;
  readonly #seqs = new Map<number, number>();
  /** Their keys in a ring, oldest at `#next` once it is full: a map walks over what was deleted to find its first. */
  readonly #keys: number[] = [];
  #next = 0;

  constructor(max: number) {
    this.#max = max;
  }

  seqOf(hash: Uint8Array): number | undefined {
    return this.#seqs.get(keyOf(hash));
  }

  add(hash: Uint8Array, seq: number): void {
    const key = keyOf(hash);
    const isNew = !this.#seqs.has(key);
    this.#seqs.set(key, seq);
    if (!isNew) return;
    const oldest = this.#keys[this.#next];
    if (oldest !== undefined) this.#seqs.delete(oldest);
    this.#keys[this.#next] = key;
    this.#next = (this.#next + 1) % this.#max;
  }
}

function keyOf(hash: Uint8Array): number {
  return Buffer.from(hash.buffer, hash.byteOffset, hash.byteLength).readUIntBE(0, KEY_BYTES);
}
