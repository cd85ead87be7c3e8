import { hash } from 'node:crypto';
import { isoTime } from '../../../../shared/lib/clock.ts';
import { newId } from '../../../../shared/lib/ids.ts';
import { DEDUP_BODY_MS, DEDUP_ID_MS } from '../../../../shared/lib/limits.ts';
import { actorNamed } from '../../../../shared/rules/actor.ts';
import type { SourceRow } from '../../../../shared/store/tables/inbox/sources.ts';
import { storedBytes } from '../../../../shared/store/tables/inbox/source-use.ts';
import type { ReachedLimit } from '../../../../shared/rules/inbox/ingress-limit.ts';
import type { PayloadKind } from '../../../../shared/rules/payload/payload.ts';
import type { Job, Command } from '../../context/job.ts';
import { announce } from './routing.ts';
import { limitOf } from './source-limit.ts';

/** A delivery after the signature check and the parser. */
export interface Delivery {
  readonly sourceId: string;
  /**
   * The `stampOf` the source that checked it, if another gateway may have changed that source meanwhile; null otherwise.
   */
  readonly sourceStamp: string | null;
  readonly source: string;
  /** What it proves about its sender. */
  readonly proof: 'signature' | 'shared_secret' | 'none';
  readonly now: number;
  readonly sizeBytes: number;
  /** The bytes; null if `blob` names them. */
  readonly body: Uint8Array | null;
  readonly blob: string | null;
  readonly hash: Uint8Array;
  readonly kind: PayloadKind;
  readonly type: string;
  readonly providerId: string | null;
  readonly contentType: string | null;
  /** The stored headers, as JSON. */
  readonly headers: string;
  /** Keyed digest of the delivery, for the ledger. */
  readonly digest: string;
}

/** The answer to the sender of a webhook. */
export interface DeliveryAnswer {
  readonly status: 'accepted' | 'duplicate';
  readonly event_id: string;
  /** It's a duplicate only by its bytes, because it has no id. */
  readonly isSameBody?: true;
}

/** A delivery's result. A source that has reached a limit stores nothing. */
export type StoredAnswer =
  | DeliveryAnswer
  | { readonly status: 'limited'; readonly limit: ReachedLimit };

/** A webhook's result. `outdated`: its source has changed since it was checked, so nothing was stored. */
type WebhookAnswer = StoredAnswer | { readonly status: 'outdated' };

/** Differs as soon as anything changes that decides which deliveries a source takes. */
export function stampOf(source: SourceRow): string {
  const { verification, signature_header, secret, previous_secret, previous_valid_until } = source;
  const parts = [source.name, verification, signature_header, previous_valid_until];
  const sealed = [secret, previous_secret].map((one) => one && Buffer.from(one).toString('base64'));
  return hash('sha256', JSON.stringify([...parts, ...sealed]), 'base64');
}

/**
 * Stores a delivery unless it's a duplicate: one with the same provider id or, if it has no id, with the same bytes.
 */
export const delivery: Command<Delivery, WebhookAnswer> = {
  run: insertChecked,
  sizeBytes: ({ body }) => body?.length ?? 0,
};

/** A delivery with the same id after this time is a duplicate. */
function sinceOf(now: number): string {
  return isoTime(now - DEDUP_ID_MS);
}

async function insertChecked(job: Job, came: Delivery): Promise<WebhookAnswer> {
  if (came.sourceStamp !== null) {
    const source = await job.store.sources.findById(came.sourceId);
    if (!source || stampOf(source) !== came.sourceStamp) return { status: 'outdated' };
  }
  return insertOnce(job, came);
}

async function insertOnce(job: Job, came: Delivery): Promise<StoredAnswer> {
  const { store, ledgerWriter, bodies } = job;
  const { sourceId, source, now, hash: bodyHash, providerId, type, digest } = came;
  const sinceIso = isoTime(now - DEDUP_BODY_MS);
  // An event with the same bytes, under any id or none.
  const sameBody = await bodies.find(store, { sourceId, hash: bodyHash, sinceIso });
  const seen =
    providerId === null
      ? (sameBody ?? (await store.events.deliveredBody(sourceId, bodyHash, sinceIso)))
      : await store.events.deliveredAs(sourceId, providerId, sinceOf(now));
  if (seen !== null) {
    const known = { status: 'duplicate', event_id: seen } as const;
    return providerId === null ? { ...known, isSameBody: true } : known;
  }
  const limit = await limitOf(job, { id: sourceId, name: source }, now);
  if (limit) return { status: 'limited', limit };
  const { seq, receivedAt } = await store.events.nextPlace(isoTime(now));
  const event = {
    id: newId('evt', now),
    sourceId,
    source,
    channel: 'webhook',
    type,
    receivedAt,
    verified: came.proof === 'signature',
    isSecretKnown: came.proof === 'shared_secret',
    trust: 'external_untrusted' as const,
    // GitHub and others leave the delivery id out of what they sign: a known body under a new id may be a replay.
    suspectedReplay: sameBody !== null,
    sizeBytes: came.sizeBytes,
    providerId,
    bodyHash,
    content: came,
  };
  await store.events.insert(event, seq);
  bodies.add(sourceId, bodyHash, seq);
  if (came.blob !== null) await store.blobs.addReference(came.blob, came.sizeBytes);
  const isNewHour = await store.sourceUse.add(sourceId, storedBytes(came), now);
  store.sources.countAccepted(sourceId, now, event.receivedAt, isNewHour);
  const actor = actorNamed(sourceId);
  const action = { actor, op: 'event.received', subject: event.id, inputDigest: digest };
  await ledgerWriter.record(store, action, now);
  await announce(job, { seq, source, type }, now);
  return { status: 'accepted', event_id: event.id };
}
