import type { Repositories } from '../../shared/store/project-store.ts';

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
  #seqs: Map<string, Map<number, number>> | null = null;

  /** The event of a source that brought the same bytes since a time, or null. */
  async find(
    store: Repositories,
    body: { readonly sourceId: string; readonly hash: Uint8Array; readonly sinceIso: string },
  ): Promise<string | null> {
    const { sourceId, hash, sinceIso } = body;
    const seqs = (this.#seqs ??= await read(store, sinceIso));
    const seq = seqs.get(sourceId)?.get(keyOf(hash));
    return seq === undefined ? null : store.events.deliveredAt(seq, { sourceId, hash, sinceIso });
  }

  add(sourceId: string, hash: Uint8Array, seq: number): void {
    if (this.#seqs) remember(this.#seqs, { sourceId, hash, seq });
  }
}

async function read(
  store: Repositories,
  sinceIso: string,
): Promise<Map<string, Map<number, number>>> {
  const seqs = new Map<string, Map<number, number>>();
  for (const { source_id, body_hash, seq } of await store.events.bodiesSince(
    sinceIso,
    BODIES_MAX,
  )) {
    remember(seqs, { sourceId: source_id, hash: body_hash, seq });
  }
  return seqs;
}

function remember(
  seqs: Map<string, Map<number, number>>,
  body: { readonly sourceId: string; readonly hash: Uint8Array; readonly seq: number },
): void {
  let ofSource = seqs.get(body.sourceId);
  if (!ofSource) seqs.set(body.sourceId, (ofSource = new Map<number, number>()));
  ofSource.set(keyOf(body.hash), body.seq);
  if (ofSource.size <= BODIES_MAX) return;
  const oldest = ofSource.keys().next().value;
  if (oldest !== undefined) ofSource.delete(oldest);
}

function keyOf(hash: Uint8Array): number {
  return Buffer.from(hash.buffer, hash.byteOffset, hash.byteLength).readUIntBE(0, KEY_BYTES);
}
