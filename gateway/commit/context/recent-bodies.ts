import type { Repositories } from '../../../shared/store/repositories.ts';

/** How many bodies of each source this process remembers. */
export const BODIES_MAX = 50_000;
const KEY_BYTES = 6;

/**
 * Recent bodies of each source, by the start of their hash, to notice a body that arrives again under another id. A
 * database index would double the cost of a delivery, because hashes are spread all over it. This is a hint, not a
 * promise: beyond BODIES_MAX it forgets the oldest. It reads the rows at first use, and checks every match against
 * its row, so leftovers of a rolled-back transaction do no harm.
 */
export class RecentBodies {
  readonly #max: number;
  #ofSources = new Map<string, SourceBodies>();
  /**
   * The newest row that was read. Bodies added later may have been rolled back, and other events may have taken their
   * seq.
   */
  #readSeq = 0;
  #isComplete = false;
  /** The earlier seqs of bodies that the current transaction overwrote. */
  #overwritten: Body[] = [];

  /** `max`: how many bodies of each source to remember. */
  constructor(max: number) {
    this.#max = max;
  }

  /** Returns the id of the source's event that had the same bytes since `sinceIso`, or null. */
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

  /** The current transaction is durable. */
  keep(): void {
    this.#overwritten = [];
  }

  /** The current transaction rolled back: restores the earlier seqs. Bodies that were new in it do no harm. */
  undo(): void {
    for (const body of this.#overwritten.toReversed()) this.#remember(body);
    this.#overwritten = [];
  }

  /** Other gateways may have added rows: the next lookup reads them first. */
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
  /**
   * Keys in a ring; once it is full, the oldest is at `#next`. A Map would step over deleted entries to find its
   * first.
   */
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
