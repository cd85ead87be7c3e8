import type { IncomingMessage } from 'node:http';
import type { Vault } from '../../shared/kernel/context.ts';
import type { Clock } from '../../shared/lib/clock.ts';
import { ServiceError } from '../../shared/lib/errors.ts';
import { PAYLOAD_ROW_MAX_BYTES } from '../../shared/lib/limits.ts';
import { sourceAad } from '../../shared/operations/source/view.ts';
import { eventType } from '../../shared/rules/inbox/event-type.ts';
import { parsePayload, saidBy } from '../../shared/rules/payload/payload.ts';
import { deliveryProblem, problemText } from '../../shared/rules/payload/signature.ts';
import { textsIn } from '../../shared/senders/places.ts';
import { senderOf } from '../../shared/senders/registry.ts';
import type { HeaderRecord, Sender } from '../../shared/senders/sender.ts';
import type { SourceRow } from '../../shared/store/tables/inbox/sources.ts';
import type { KeyUse } from '../auth/key-use.ts';
import type { Delivery } from '../commit/commands/inbox/delivery.ts';
import type { LedgerWriter } from '../commit/context/ledger-writer.ts';
import type { IngressGuard } from '../projects/limits/ingress-guard.ts';
import type { Project } from '../projects/project.ts';
import { heldSecrets, type OpenSource } from '../projects/source-cache.ts';
import type { SenderCertificates } from './sender-certificates.ts';
import { bodyHash, providerId } from './delivery-key.ts';
import {
  challengeIn,
  challengeReply,
  deliveryReply,
  isSignedHandshake,
  type SenderReply,
} from './handshake.ts';
import { headerRecord, storedHeaders } from './stored-headers.ts';

/** The source of a token, and its project. */
export interface SourceMatch {
  readonly project: Project;
  readonly source: OpenSource;
  /** The source may have changed since it was read. */
  readonly mayBeOutdated: () => boolean;
  /** For the write to check that the source hasn't changed; null if this process would know. */
  readonly stamp: () => string | null;
}

/** A delivery as it arrived. */
interface WebhookRequest {
  readonly rawHeaders: readonly string[];
  /** The path and query of the request, whose host nobody vouches for. */
  readonly target: string;
  readonly body: Buffer;
}

/** A delivery that can be checked. */
interface ParsedDelivery {
  readonly rawHeaders: readonly string[];
  readonly headers: HeaderRecord;
  /** The address as the sender was given it, with its own query. */
  readonly url: string;
  readonly body: Buffer;
  readonly payload: () => Payload;
  readonly certificate: string | null;
}

type Payload = ReturnType<typeof parsePayload>;

/** What the sender hears, and the event that the delivery became or repeats. */
interface WebhookResult {
  readonly reply: SenderReply;
  readonly event_id: string | null;
}

interface WebhookDeps {
  readonly vault: Vault;
  readonly clock: Clock;
  readonly keyUse: KeyUse;
  readonly guard: IngressGuard;
  readonly certificates: SenderCertificates;
  /** The base of the addresses that senders were given. */
  readonly hooksUrl: string;
  /** Finds the source of a token; `isExact`: as it is now. */
  find(token: string, isExact: boolean): Promise<SourceMatch>;
}

/** Webhooks: verifies the raw bytes, parses them, deduplicates and inserts in one transaction, and answers after it. */
export class Webhooks {
  readonly #deps: WebhookDeps;

  constructor(deps: WebhookDeps) {
    this.#deps = deps;
  }

  /** The answer to a question that its sender asks unsigned before it sends; null if the request asks none. */
  async hello(
    found: SourceMatch,
    token: string,
    request: IncomingMessage,
  ): Promise<SenderReply | null> {
    const { source } = found;
    const { handshake } = senderOf(source.row.verification);
    if (!handshake || isSignedHandshake(handshake)) return null;
    const { method = '', rawHeaders, url: target = '' } = request;
    const url = this.#addressOf(token, target);
    const asked = { method, headers: headerRecord(rawHeaders), url, payload: () => null };
    const challenge = challengeIn(handshake, asked);
    if (challenge === null) return null;
    if (handshake.isSecret) await this.#learn(found, challenge);
    return challengeReply(handshake, challenge, []);
  }

  async take(token: string, arrived: WebhookRequest): Promise<WebhookResult> {
    const { rawHeaders, target, body } = arrived;
    const headers = headerRecord(rawHeaders);
    const payload = once(() => parsePayload(kindTypeOf(headers), body));
    const url = this.#addressOf(token, target);
    for (let isExact = false; ; isExact = true) {
      // Look the source up again, because it may have changed while a slow body arrived.
      const found = await this.#deps.find(token, isExact);
      const sender = senderOf(found.source.row.verification);
      const certificate = await this.#certificateOf(sender, headers);
      const received = { rawHeaders, headers, url, body, payload, certificate };
      const taken = await this.#takeFrom(found, received);
      if (taken) return taken;
    }
  }

  /** Null if the source may have changed since it was read, so that it has to be read again. */
  async #takeFrom(found: SourceMatch, received: ParsedDelivery): Promise<WebhookResult | null> {
    const { project, source } = found;
    const { row } = source;
    const sender = senderOf(row.verification);
    const now = this.#deps.clock.now();
    const secrets = heldSecrets(source, now);
    const problem = problemOf(row, received, { secrets, now });
    if (problem !== null && found.mayBeOutdated()) return null;
    if (problem !== null) this.#refuse(found, problem);
    const question = signedQuestion(sender, received);
    if (question !== null && sender.handshake) {
      return { reply: challengeReply(sender.handshake, question, secrets), event_id: null };
    }
    const ledgerWriter = await project.ledgerWriter();
    // Checking it and parsing it may take long, so others get their turn in between.
    if (received.body.length > PAYLOAD_ROW_MAX_BYTES) await project.pace.breathe();
    const delivery = understand(ledgerWriter, row, received, now);
    const result = await keep(project, { ...delivery, sourceStamp: found.stamp() }, received.body);
    if (result.status === 'outdated') return null;
    const answer = this.#deps.guard.settle(project, row, result);
    if (answer.isSameBody) this.#deps.keyUse.noteRepeated(project, row.id);
    return { reply: deliveryReply(answer, sender), event_id: answer.event_id };
  }

  /** The source's address as its owner sees it, whatever host the request names, with the query that the sender added. */
  #addressOf(token: string, target: string): string {
    const [path = '', ...query] = target.split('?');
    const end = (path.endsWith('/') ? '/' : '') + (query.length > 0 ? `?${query.join('?')}` : '');
    return `${this.#deps.hooksUrl}/w/${token}${end}`;
  }

  async #certificateOf({ proof }: Sender, headers: HeaderRecord): Promise<string | null> {
    if (proof.kind !== 'public_key' || proof.key === 'secret') return null;
    const [address = ''] = textsIn(proof.key.at, { headers, url: '', payload: () => null });
    return this.#deps.certificates.at(address, proof.key);
  }

  /** Keeps the secret that the sender chose, if the source has none yet. Another one is refused. */
  async #learn(found: SourceMatch, secret: string): Promise<void> {
    const { project, source } = found;
    const { vault, clock } = this.#deps;
    const now = clock.now();
    if (heldSecrets(source, now).includes(secret)) return;
    const { id } = source.row;
    const sealed = vault.seal(sourceAad('secret', project.info.id, id), secret);
    const isKept = await project.writes.run('learnSecret', { sourceId: id, sealed, now });
    if (!isKept) this.#refuse(found, 'it brought another secret than the one that the source has');
  }

  #refuse({ project, source }: SourceMatch, problem: string): never {
    this.#deps.keyUse.noteRejected(project, source.row, problem);
    throw new ServiceError('INGRESS_SIGNATURE_INVALID');
  }
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => (made ??= { value: make() }).value;
}

function contentTypeOf(headers: HeaderRecord): string | undefined {
  return headers['content-type'];
}

/** What the body is: Amazon SNS sends JSON and calls it text. */
function kindTypeOf(headers: HeaderRecord): string | undefined {
  const isSns = headers['x-amz-sns-message-type'] !== undefined;
  return isSns ? 'application/json' : contentTypeOf(headers);
}

/** Why the delivery isn't its sender's; null if it is. */
function problemOf(
  { verification, signature_header: signatureHeader }: SourceRow,
  { headers, url, body, payload, certificate }: ParsedDelivery,
  { secrets, now }: { readonly secrets: readonly string[]; readonly now: number },
): string | null {
  const problem = deliveryProblem({
    verification,
    signatureHeader,
    secrets,
    headers,
    url,
    body,
    certificate,
    payload: () => saidBy(payload().value),
    nowMs: now,
  });
  return problem && problemText(problem);
}

function signedQuestion(
  { handshake }: Sender,
  { headers, url, payload }: ParsedDelivery,
): string | null {
  if (!isSignedHandshake(handshake)) return null;
  return challengeIn(handshake, { method: 'POST', headers, url, payload: () => payload().value });
}

/** Stores a delivery; a large body goes to a file first. */
async function keep(project: Project, delivery: Delivery, body: Buffer) {
  if (body.length <= PAYLOAD_ROW_MAX_BYTES) return project.writes.run('delivery', delivery);
  const { digest, release } = await project.blobs.put(body);
  try {
    return await project.writes.run('delivery', { ...delivery, body: null, blob: digest });
  } finally {
    release();
  }
}

function understand(
  ledgerWriter: LedgerWriter,
  source: SourceRow,
  received: ParsedDelivery,
  now: number,
): Omit<Delivery, 'sourceStamp'> {
  const { rawHeaders, headers, body } = received;
  const { verification } = source;
  const { kind, value: payload } = received.payload();
  const dropped = source.signature_header === null ? [] : [source.signature_header];
  const hash = bodyHash(body);
  const type = eventType({ verification, headers, payload });
  const came = { source: source.name, type, body: Buffer.from(hash).toString('hex') };
  return {
    sourceId: source.id,
    source: source.name,
    proof: proofOf(senderOf(verification)),
    now,
    sizeBytes: body.length,
    body,
    blob: null,
    hash,
    kind,
    type,
    providerId: providerId({ verification, headers, payload }),
    contentType: contentTypeOf(headers) ?? null,
    headers: JSON.stringify(storedHeaders(rawHeaders, dropped)),
    digest: ledgerWriter.digest(came),
  };
}

/** What a delivery that was taken proves about its sender. */
function proofOf({ proof }: Sender): Delivery['proof'] {
  if (proof.kind === 'none') return 'none';
  return proof.kind === 'shared_secret' ? 'shared_secret' : 'signature';
}
