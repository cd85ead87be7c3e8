import { hash as digestOf } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { readBody, refuseEncoded } from '../shared/bindings/read-body.ts';
import { isoTime, type Clock } from '../shared/clock.ts';
import type { Vault } from '../shared/context.ts';
import { ServiceError } from '../shared/errors.ts';
import { newId, parseToken } from '../shared/ids.ts';
import {
  DEDUP_BODY_MS,
  DEDUP_ID_MS,
  PAYLOAD_RETENTION_MS,
  PAYLOAD_ROW_MAX_BYTES,
  WEBHOOK_BODY_MAX_BYTES,
} from '../shared/limits.ts';
import { sourcePlace } from '../shared/operations/source/view.ts';
import { bodyHash, providerId } from '../shared/rules/delivery-key.ts';
import { eventType } from '../shared/rules/event-type.ts';
import { parsePayload, type PayloadKind } from '../shared/rules/payload.ts';
import { verifySignature, type HeaderRecord } from '../shared/rules/signature.ts';
import { headerRecord, storedHeaders } from '../shared/rules/stored-headers.ts';
import type { WriteTx } from '../shared/store/driver.ts';
import type { Repositories } from '../shared/store/project-store.ts';
import type { SourceRow } from '../shared/store/sources.ts';
import type { KeyUse } from './key-use.ts';
import type { OpenSource, Project } from './project.ts';
import type { Projects } from './projects.ts';

/** What the sender of a webhook is told. */
export interface IngressAnswer {
  readonly status: 'accepted' | 'duplicate';
  readonly event_id: string;
}

/** A delivery as it came in. */
interface Received {
  readonly request: IncomingMessage;
  readonly headers: HeaderRecord;
  readonly body: Buffer;
  readonly now: number;
}

/** A delivery whose signature is checked and whose body is understood, before it has a place in the queue. */
interface Delivery {
  readonly source: SourceRow;
  readonly now: number;
  readonly body: Buffer;
  readonly hash: Uint8Array;
  readonly kind: PayloadKind;
  readonly type: string;
  readonly providerId: string | null;
  readonly contentType: string | undefined;
  readonly headersJson: string;
  /** Keyed digest of what came, for the ledger. */
  readonly digest: string;
  readonly blob: string | null;
}

/** Takes webhooks: verify the raw bytes, understand, deduplicate and insert in one transaction, answer after it. */
export class Ingress {
  readonly #projects: Projects;
  readonly #vault: Vault;
  readonly #clock: Clock;
  readonly #keyUse: KeyUse;

  constructor(parts: { projects: Projects; vault: Vault; clock: Clock; keyUse: KeyUse }) {
    this.#projects = parts.projects;
    this.#vault = parts.vault;
    this.#clock = parts.clock;
    this.#keyUse = parts.keyUse;
  }

  /** One POST to a hook URL. Unknown and removed tokens are NOT_FOUND, with nothing more said. */
  async receive(token: string, request: IncomingMessage): Promise<IngressAnswer> {
    await this.#find(token);
    refuseEncoded(request);
    const body = await readBody(request, WEBHOOK_BODY_MAX_BYTES);
    // A body may take its time: what counts is the source that is there now.
    const { project, source } = await this.#find(token);
    const now = this.#clock.now();
    const received = { request, headers: headerRecord(request.rawHeaders), body, now };
    this.#verify(project, source, received);
    const delivery = understand(project, source.row, received);
    if (body.length <= PAYLOAD_ROW_MAX_BYTES) return this.#insert(project, delivery);
    const { digest, release } = await project.blobs.put(body);
    try {
      return await this.#insert(project, { ...delivery, blob: digest });
    } finally {
      release();
    }
  }

  async #find(token: string): Promise<{ project: Project; source: OpenSource }> {
    const parsed = parseToken(token);
    const project = parsed && (await this.#projects.find(parsed.projectId));
    if (!project) throw new ServiceError('NOT_FOUND');
    const known = project.sourceCache.get(token);
    if (known) return { project, source: known };
    const row = await project.store.read((store) =>
      store.sources.findByTokenHash(digestOf('sha256', token)),
    );
    if (!row) throw new ServiceError('NOT_FOUND');
    const place = sourcePlace('secret', project.info.id, row.id);
    const secret = row.secret && Buffer.from(this.#vault.open(place, row.secret)).toString('utf8');
    const source = { row, secret };
    project.sourceCache.set(token, source);
    return { project, source };
  }

  #verify(project: Project, source: OpenSource, received: Received): void {
    const { row, secret } = source;
    if (row.verification === 'none') return;
    const genuine =
      secret !== null &&
      verifySignature({
        verification: row.verification,
        secrets: [secret],
        signatureHeader: row.signature_header,
        headers: received.headers,
        body: received.body,
        nowMs: received.now,
      });
    if (genuine) return;
    this.#keyUse.noteRejected(project, row.id);
    throw new ServiceError('INGRESS_SIGNATURE_INVALID');
  }

  #insert(project: Project, delivery: Delivery): Promise<IngressAnswer> {
    return project.store.write((store, tx) => insertOnce(project, { store, tx }, delivery), {
      sizeBytes: delivery.body.length,
    });
  }
}

function understand(project: Project, source: SourceRow, received: Received): Delivery {
  const { request, headers, body, now } = received;
  const { verification } = source;
  const contentType = request.headers['content-type'];
  const { kind, value: payload } = parsePayload(contentType, body);
  const dropped = source.signature_header === null ? [] : [source.signature_header];
  const hash = bodyHash(body);
  const type = eventType({ verification, headers, payload });
  const came = { source: source.name, type, body: Buffer.from(hash).toString('hex') };
  return {
    source,
    now,
    body,
    kind,
    contentType,
    hash,
    type,
    digest: project.digest(came),
    providerId: providerId({ verification, headers, payload }),
    headersJson: JSON.stringify(storedHeaders(request.rawHeaders, dropped)),
    blob: null,
  };
}

async function insertOnce(
  project: Project,
  { store, tx }: { store: Repositories; tx: WriteTx },
  delivery: Delivery,
): Promise<IngressAnswer> {
  const { source, now, hash } = delivery;
  const { providerId: id } = delivery;
  const sameBody = await store.events.deliveredBody(source.id, hash, isoTime(now - DEDUP_BODY_MS));
  const seen =
    id === null
      ? sameBody
      : await store.events.deliveredAs(source.id, id, isoTime(now - DEDUP_ID_MS));
  if (seen !== null) return { status: 'duplicate', event_id: seen };
  const last = await store.events.last();
  const nowIso = isoTime(now);
  const eventId = newId('evt', now);
  const event = {
    id: eventId,
    sourceId: source.id,
    source: source.name,
    channel: 'webhook',
    type: delivery.type,
    // Arrival order is the order of time, whatever the clock does.
    receivedAt: last.receivedAt > nowIso ? last.receivedAt : nowIso,
    verified: source.verification !== 'none',
    trust: 'external_untrusted' as const,
    // GitHub and others leave the delivery id out of what they sign: a known body under a new id may be a replay.
    suspectedReplay: sameBody !== null,
    sizeBytes: delivery.body.length,
    providerId: delivery.providerId,
    bodyHash: hash,
    content: {
      headers: delivery.headersJson,
      contentType: delivery.contentType ?? null,
      kind: delivery.kind,
      body: delivery.blob === null ? delivery.body : null,
      blob: delivery.blob,
    },
  };
  await store.events.insert(event, last.seq + 1);
  if (delivery.blob !== null) await store.blobs.addReference(delivery.blob, delivery.body.length);
  store.sources.countAccepted(source.id, now, event.receivedAt);
  await project.record(
    store,
    { op: 'event.received', subject: eventId, inputDigest: delivery.digest },
    now,
  );
  project.announce(tx, { source: source.name, type: event.type });
  tx.afterCommit(() => project.atLatest(now + PAYLOAD_RETENTION_MS));
  return { status: 'accepted', event_id: eventId };
}
