import { hash as digestOf } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { admittedOf, type Arrival } from '../../shared/api/http.ts';
import { readBody, refuseEncoded } from '../../shared/api/read-body.ts';
import type { Clock } from '../../shared/lib/clock.ts';
import type { Vault } from '../../shared/kernel/context.ts';
import { invalid, ServiceError } from '../../shared/lib/errors.ts';
import { parseToken } from '../../shared/lib/ids.ts';
import { MAIL_MAX_BYTES, WEBHOOK_BODY_MAX_BYTES } from '../../shared/lib/limits.ts';
import type { KeyUse } from '../auth/key-use.ts';
import type { IngressGuard } from '../projects/limits/ingress-guard.ts';
import { openSource, type OpenSource } from '../projects/source-cache.ts';
import { deliverMail } from '../mail/inbound/deliver.ts';
import type { MailReader } from '../mail/inbound/read-mail.ts';
import type { Project } from '../projects/project.ts';
import type { Projects } from '../projects/projects.ts';
import type { SampleDelivery } from '../lib/sample-delivery.ts';
import { stampOf, type DeliveryAnswer } from '../commit/commands/inbox/delivery.ts';
import type { Repositories } from '../../shared/store/repositories.ts';
import { deliveryReply, NOTHING, type SenderReply } from './handshake.ts';
import type { SenderCertificates } from './sender-certificates.ts';
import { Webhooks, type SourceMatch } from './webhooks.ts';

/** The result of a mail. A report about one of our mails creates no event. */
type MailAnswer = DeliveryAnswer | { readonly status: 'accepted'; readonly event_id: null };

interface IngressDeps {
  readonly projects: Projects;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly keyUse: KeyUse;
  readonly guard: IngressGuard;
  readonly mailReader: MailReader;
  /** The domain of projects' addresses. */
  readonly mailDomain: string | null;
  /** The base of the addresses that senders were given. */
  readonly hooksUrl: string;
  readonly certificates: SenderCertificates;
}

/**
 * Receives what is sent to sources. An email source takes whole mails (RFC 5322) in the same way as others take
 * webhooks, from mail servers that can post them.
 */
export class Ingress {
  readonly #deps: IngressDeps;
  readonly #webhooks: Webhooks;

  constructor(deps: IngressDeps) {
    this.#deps = deps;
    this.#webhooks = new Webhooks({
      ...deps,
      find: (token, isExact) => this.#find(token, isExact),
    });
  }

  /** Handles one POST to a hook URL. Unknown and removed tokens get NOT_FOUND without a reason. */
  async receive(token: string, arrival: Arrival): Promise<SenderReply> {
    const { incoming: request } = arrival;
    const found = await this.#enter(token, arrival);
    const { row } = found.source;
    this.#deps.guard.admit(found.project, row, declaredBytes(request));
    refuseEncoded(request);
    if (row.type === 'email') return deliveryReply(await this.#receiveMail(token, arrival));
    const hello = await this.#webhooks.hello(found, token, request);
    if (hello) return hello;
    const body = await readBody(arrival, WEBHOOK_BODY_MAX_BYTES);
    const { rawHeaders, url: target = '' } = request;
    const { reply } = await this.#webhooks.take(token, { rawHeaders, target, body });
    return reply;
  }

  /** Handles GET, HEAD and OPTIONS: says that the address is there, and what the sender asks to hear. */
  async greet(token: string, arrival: Arrival): Promise<SenderReply> {
    const found = await this.#enter(token, arrival);
    return (await this.#webhooks.hello(found, token, arrival.incoming)) ?? NOTHING;
  }

  /** Takes a sample that a person sends to their own source: checked, limited and stored like any delivery. */
  async receiveSample(
    token: string,
    { headers, body }: SampleDelivery,
  ): Promise<{ readonly event_id: string | null }> {
    const { project, source } = await this.#find(token, true);
    this.#deps.guard.admit(project, source.row, body.length);
    if (source.row.type === 'email') {
      return this.#takeMail(project, source, { raw: body, now: this.#deps.clock.now() });
    }
    const rawHeaders = Object.entries(headers).flat();
    return this.#webhooks.take(token, { rawHeaders, target: '', body });
  }

  async #enter(token: string, arrival: Arrival): Promise<SourceMatch> {
    const found = await this.#find(token);
    const door = found.source.row.type === 'email' ? 'mail' : 'webhook';
    admittedOf(arrival).proved(door, found.project.info.id);
    return found;
  }

  async #receiveMail(token: string, arrival: Arrival): Promise<MailAnswer> {
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
  ): Promise<MailAnswer> {
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

  /** `isExact`: as it is at all gateways. An unknown source is always looked for everywhere. */
  async #find(token: string, isExact = false): Promise<SourceMatch> {
    const parsed = parseToken(token);
    const project = parsed && (await this.#deps.projects.find(parsed.projectId));
    if (!project) throw new ServiceError('NOT_FOUND');
    const { coordination, sourceCache } = project;
    const mayBeOutdated = (): boolean => !isExact && coordination.mayBeBehind;
    const found = (source: OpenSource): SourceMatch => {
      const stamp = () => (coordination.writesAlone ? null : stampOf(source.row));
      return { project, source, mayBeOutdated, stamp };
    };
    const known = sourceCache.get(token);
    if (known) return found(known);
    const { version } = sourceCache;
    const find = (store: Repositories) => store.sources.findByTokenHash(digestOf('sha256', token));
    const row = await (isExact ? project.store.read(find) : coordination.lookUp(find));
    if (!row) throw new ServiceError('NOT_FOUND');
    const source = openSource(row, this.#deps.vault, project.info);
    sourceCache.set(token, source, version);
    return found(source);
  }
}

/** As many as the sender declares; Infinity if it doesn't. */
function declaredBytes({ headers }: IncomingMessage): number {
  const length = headers['content-length'];
  return length === undefined ? Infinity : Number(length);
}
