import { hash as digestOf } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { admittedOf, type Arrival } from '../../shared/api/http.ts';
import { readBody, refuseEncoded } from '../../shared/api/read-body.ts';
import type { Clock } from '../../shared/lib/clock.ts';
import type { Vault } from '../../shared/kernel/context.ts';
import { invalid, ServiceError } from '../../shared/lib/errors.ts';
import { parseToken } from '../../shared/lib/ids.ts';
import {
  MAIL_MAX_BYTES,
  PAYLOAD_ROW_MAX_BYTES,
  WEBHOOK_BODY_MAX_BYTES,
} from '../../shared/lib/limits.ts';
import { bodyHash, providerId } from './delivery-key.ts';
import { eventType } from '../../shared/rules/event-type.ts';
import { parsePayload } from '../../shared/rules/payload.ts';
import { signatureProblem } from './signature-problem.ts';
import { verifySignature, type HeaderRecord } from '../../shared/rules/signature.ts';
import { headerRecord, storedHeaders } from './stored-headers.ts';
import type { SourceRow } from '../../shared/store/sources.ts';
import type { KeyUse } from '../auth/key-use.ts';
import type { IngressGuard } from '../projects/ingress-guard.ts';
import { heldSecrets, openSource, type OpenSource } from '../projects/source-cache.ts';
import { deliverMail } from '../mail/inbound/deliver.ts';
import type { MailReader } from '../mail/inbound/read-mail.ts';
import type { Project } from '../projects/project.ts';
import type { Projects } from '../projects/projects.ts';
import type { SampleDelivery } from '../lib/sample-delivery.ts';
import type { LedgerWriter } from '../commit/ledger-writer.ts';
import { stampOf, type Delivery, type DeliveryAnswer } from '../commit/delivery.ts';
import type { Repositories } from '../../shared/store/repositories.ts';

/** A delivery as received. */
interface Received {
  readonly contentType: string | null;
  readonly rawHeaders: readonly string[];
  readonly headers: HeaderRecord;
  readonly body: Buffer;
  readonly now: number;
}

/** The answer to the sender. A report about one of our mails creates no event. */
export type IngressAnswer =
  | DeliveryAnswer
  | { readonly status: 'accepted'; readonly event_id: null };

interface IngressDeps {
  readonly projects: Projects;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly keyUse: KeyUse;
  readonly guard: IngressGuard;
  readonly mailReader: MailReader;
  /** The domain of projects' addresses. */
  readonly mailDomain: string | null;
}

/**
 * Receives webhooks: verifies the raw bytes, parses them, deduplicates and inserts in one transaction, and answers
 * after it. An email source takes whole mails (RFC 5322) in the same way, from mail servers that can post them.
 */
export class Ingress {
  readonly #deps: IngressDeps;

  constructor(deps: IngressDeps) {
    this.#deps = deps;
  }

  /** Handles one POST to a hook URL. Unknown and removed tokens get NOT_FOUND without a reason. */
  async receive(token: string, arrival: Arrival): Promise<IngressAnswer> {
    const { incoming: request } = arrival;
    const found = await this.#find(token);
    const isMail = found.source.row.type === 'email';
    admittedOf(arrival).proved(isMail ? 'mail' : 'webhook', found.project.info.id);
    this.#deps.guard.admit(found.project, found.source.row, declaredBytes(request));
    refuseEncoded(request);
    if (isMail) return this.#receiveMail(token, arrival);
    const body = await readBody(arrival, WEBHOOK_BODY_MAX_BYTES);
    const { rawHeaders, headers } = request;
    return this.#takeWebhook(token, {
      contentType: headers['content-type'] ?? null,
      rawHeaders,
      body,
    });
  }

  /** Takes a sample that a person sends to their own source: checked, limited and stored like any delivery. */
  async receiveSample(token: string, { headers, body }: SampleDelivery): Promise<IngressAnswer> {
    const { project, source } = await this.#find(token, true);
    this.#deps.guard.admit(project, source.row, body.length);
    if (source.row.type === 'email') {
      return this.#takeMail(project, source, { raw: body, now: this.#deps.clock.now() });
    }
    const rawHeaders = Object.entries(headers).flat();
    return this.#takeWebhook(token, {
      contentType: headers['content-type'] ?? null,
      rawHeaders,
      body,
    });
  }

  async #takeWebhook(
    token: string,
    arrived: Pick<Received, 'contentType' | 'rawHeaders' | 'body'>,
  ): Promise<IngressAnswer> {
    const received = { ...arrived, headers: headerRecord(arrived.rawHeaders) };
    for (let isExact = false; ; isExact = true) {
      // Look the source up again, because it may have changed while a slow body arrived.
      const found = await this.#find(token, isExact);
      const { project, source } = found;
      const now = this.#deps.clock.now();
      const problem = this.#problem(source, { ...received, now });
      const mayBeOutdated = !isExact && project.mayBeForeign();
      if (problem !== null && mayBeOutdated) continue;
      if (problem !== null) this.#refuse(found, problem);
      const ledgerWriter = await project.ledgerWriter();
      // Checking it and parsing it may take long, so others get their turn in between.
      if (received.body.length > PAYLOAD_ROW_MAX_BYTES) await project.pace.breathe();
      const delivery = understand(ledgerWriter, source.row, { ...received, now });
      const sourceStamp = project.shared ? stampOf(source.row) : null;
      const result = await keep(project, { ...delivery, sourceStamp }, received.body);
      if (result.status !== 'outdated') return this.#deps.guard.settle(project, source.row, result);
    }
  }

  async #receiveMail(token: string, arrival: Arrival): Promise<IngressAnswer> {
    const raw = await readBody(arrival, MAIL_MAX_BYTES);
    // The parser holds several copies of a mail in memory, so only a few of the largest are taken at a time.
    const account = admittedOf(arrival).openBody();
    const refusal = account.take(raw.length);
    if (refusal) throw refusal;
    try {
      const { project, source } = await this.#find(token, true);
      return await this.#takeMail(project, source, { raw, now: this.#deps.clock.now() });
    } finally {
      account.close();
    }
  }

  async #takeMail(
    project: Project,
    { row }: OpenSource,
    { raw, now }: { readonly raw: Buffer; readonly now: number },
  ): Promise<IngressAnswer> {
    const { mailReader, mailDomain } = this.#deps;
    if (raw.length === 0)
      throw invalid({ path: 'body', message: 'Send a mail (RFC 5322) as it is.' });
    const mail = await mailReader.read(raw, { now, whole: true, sizeBytes: raw.length });
    const recipients = [...mail.delivered_to.flat(), ...mail.addressed_to];
    const domain = mailDomain ?? '';
    const { guard } = this.#deps;
    const came = { mail, recipients, domain, source: row, now };
    const done = await deliverMail(project, came, guard);
    return done === null || done === 'report' ? { status: 'accepted', event_id: null } : done;
  }

  /**
   * `isExact`: as it is at all gateways. Otherwise another gateway may have changed the source a moment ago; an unknown
   * one is always looked for everywhere.
   */
  async #find(token: string, isExact = false): Promise<Found> {
    const parsed = parseToken(token);
    const project = parsed && (await this.#deps.projects.find(parsed.projectId));
    if (!project) throw new ServiceError('NOT_FOUND');
    const { sourceCache } = project;
    const known = sourceCache.get(token);
    if (known) return { project, source: known };
    const { version } = sourceCache;
    const find = (store: Repositories) => store.sources.findByTokenHash(digestOf('sha256', token));
    const isEnough = !isExact && project.shared;
    const local = isEnough ? await project.localStore.read(find) : undefined;
    const row = local ?? (await project.store.read(find));
    if (!row) throw new ServiceError('NOT_FOUND');
    const source = openSource(row, this.#deps.vault, project.info);
    sourceCache.set(token, source, version);
    return { project, source };
  }

  /** Why the signature is wrong; null if it's right. */
  #problem(source: OpenSource, received: Received): string | null {
    const { row } = source;
    if (row.verification === 'none') return null;
    const genuine = verifySignature({
      verification: row.verification,
      secrets: heldSecrets(source, received.now),
      signatureHeader: row.signature_header,
      headers: received.headers,
      body: received.body,
      nowMs: received.now,
    });
    if (genuine) return null;
    const { verification, signature_header: signatureHeader } = row;
    const { headers, now: nowMs } = received;
    return signatureProblem({ verification, signatureHeader, headers, nowMs });
  }

  #refuse({ project, source }: Found, problem: string): never {
    this.#deps.keyUse.noteRejected(project, source.row, problem);
    throw new ServiceError('INGRESS_SIGNATURE_INVALID');
  }
}

interface Found {
  readonly project: Project;
  readonly source: OpenSource;
}

/** As many as the sender declares; Infinity if it doesn't. */
function declaredBytes({ headers }: IncomingMessage): number {
  const length = headers['content-length'];
  return length === undefined ? Infinity : Number(length);
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
  received: Received,
): Omit<Delivery, 'sourceStamp'> {
  const { contentType, rawHeaders, headers, body, now } = received;
  const { verification } = source;
  const { kind, value: payload } = parsePayload(contentType ?? undefined, body);
  const dropped = source.signature_header === null ? [] : [source.signature_header];
  const hash = bodyHash(body);
  const type = eventType({ verification, headers, payload });
  const came = { source: source.name, type, body: Buffer.from(hash).toString('hex') };
  return {
    sourceId: source.id,
    source: source.name,
    verified: verification !== 'none',
    now,
    sizeBytes: body.length,
    body,
    blob: null,
    hash,
    kind,
    type,
    providerId: providerId({ verification, headers, payload }),
    contentType,
    headers: JSON.stringify(storedHeaders(rawHeaders, dropped)),
    digest: ledgerWriter.digest(came),
  };
}
