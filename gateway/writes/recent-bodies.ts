import type { Repositories } from '../../shared/store/repositories.ts';

/** So many bodies of each source are remembered. */
const BODIES_MAX = 50_000;
const KEY_BYTES = 6;

/**
 * The bodies a source brought lately, by the beginning of their hash: so that one that comes again under another id is
 * noticed. An index in the database would cost a delivery as much as all the rest of it, because hashes fall all over
 * it, and this is a hint, not a promise: beyond BODIES_MAX the oldest are forgotten. Filled from the rows at first use;
 * what is found is believed only when the row says the same, so what an undone transaction left here does no harm.
 */
export class RecentBodies {
  #ofSources: Map<string, SourceBodies> | null = null;

  /** The event of a source that brought the same bytes since a time, or null. */
  async find(
    store: Repositories,
    body: { readonly sourceId: string; readonly hash: Uint8Array; readonly sinceIso: string },
  ): Promise<string | null> {
    const { sourceId, hash, sinceIso } = body;
    const ofSources = (this.#ofSources ??= await read(store, sinceIso));
    const seq = ofSources.get(sourceId)?.seqOf(hash);
    return seq === undefined ? null : store.events.deliveredAt(seq, { sourceId, hash, sinceIso });
  }

  add(sourceId: string, hash: Uint8Array, seq: number): void {
    if (this.#ofSources) remember(this.#ofSources, { sourceId, hash, seq });
  }
}

/** The newest bodies of one source. */
class SourceBodies {
  readonly #seqs = new Map<number, number>();
  /** Their keys in a ring, oldest at `#next` once it is full: a map walks over what was deleted to find its first. */
  readonly #keys: number[] = [];
  #next = 0;

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
    this.#next = (this.#next + 1) % BODIES_MAX;
  }
}

async function read(store: Repositories, sinceIso: string): Promise<Map<string, SourceBodies>> {
  const ofSources = new Map<string, SourceBodies>();
  for (const { source_id, body_hash, seq } of await store.events.bodiesSince(
    sinceIso,
    BODIES_MAX,
  )) {
    remember(ofSources, { sourceId: source_id, hash: body_hash, seq });
  }
  return ofSources;
}

function remember(
  ofSources: Map<string, SourceBodies>,
  body: { readonly sourceId: string; readonly hash: Uint8Array; readonly seq: number },
): void {
  let bodies = ofSources.get(body.sourceId);
  if (!bodies) ofSources.set(body.sourceId, (bodies = new SourceBodies()));
  bodies.add(body.hash, body.seq);
}

function keyOf(hash: Uint8Array): number {
  return Buffer.from(hash.buffer, hash.byteOffset, hash.byteLength).readUIntBE(0, KEY_BYTES);
}
