import type { Clock } from '../../../shared/lib/clock.ts';
import type { BlobStore, MailInfo, Vault } from '../../../shared/kernel/context.ts';
import { attachmentsOf } from '../../../shared/operations/email/attachments.ts';
import { answersOf } from '../../../shared/operations/email/answers.ts';
import { sendBlocked } from '../../../shared/operations/email/quota.ts';
import { domainOf } from '../../../shared/rules/mail/mail-address.ts';
import { isShared, shownTo, type Recipient } from '../../../shared/rules/mail/mail-recipients.ts';
import { reportToken, tokenAddresses } from '../../../shared/operations/email/project-address.ts';
import { DamageError } from '../../../shared/store/sums/damage.ts';
import {
  refuseDamagedMail,
  type EmailBatchRow,
  type EmailMessageRow,
} from '../../../shared/store/tables/mail/emails.ts';
import type { Repositories } from '../../../shared/store/repositories.ts';
import type { Semaphore } from '../../lib/semaphore.ts';
import type { Metrics } from '../../lib/metrics.ts';
import { SendQueue, type SendingProject } from '../../projects/send-queue.ts';
import type { MailFailure, MailResult } from '../../commit/commands/mail/mails.ts';
import type { InputOf } from '../../commit/commands.ts';
import type { ProjectWrites } from '../../commit/thread/writers.ts';
import type { Mailer, OutgoingFile, OutgoingMail } from '../mailer.ts';

/** A batch whose content still exists. */
type ClaimedBatch = EmailBatchRow & { readonly text: string };

/** A message to send, with all messages of its batch. */
interface ClaimedMail {
  readonly message: EmailMessageRow;
  readonly messages: readonly EmailMessageRow[];
  readonly batch: ClaimedBatch;
}

interface MailsProject extends SendingProject {
  readonly blobs: Pick<BlobStore, 'read'>;
}

interface MailQueueDeps {
  readonly clock: Clock;
  readonly vault: Vault;
  readonly mailer: Mailer;
  readonly addresses: MailInfo;
  /** Limits the bytes of attachments in memory over all projects; other mails wait. */
  readonly filesInHand: Semaphore;
  readonly metrics?: Metrics | undefined;
}

const VOID: MailResult = { outcome: 'void' };

/** A hand-over was interrupted, in this process or another: the mail may have arrived, so it isn't sent twice. */
const INTERRUPTED = failure(
  'unknown',
  'The service stopped while it was handed over: it may have arrived. It was not sent again.',
);

/** The service was down so long that the mail's content was deleted. */
const FORGOTTEN = failure('gave_up', 'Its content was deleted before it could be sent.');

const DAMAGED =
  "Its text or a file that it attaches is damaged on the gateway's disk. It's sent once its operator has repaired that.";

/**
 * Sends one project's mails from their rows, each with a Message-ID fixed before the first attempt. The hand-over is
 * recorded before the first byte leaves. After a crash we report that the mail may have arrived, and never send it twice.
 */
export class Mails extends SendQueue<EmailMessageRow> {
  readonly #project: MailsProject;
  readonly #deps: MailQueueDeps;
  /** Results that could not be recorded yet. */
  readonly #unwritten = new Map<string, MailResult>();
  /** When each claim ends; nothing where nobody else sends. */
  readonly #claims = new Map<string, number>();

  constructor(project: MailsProject, deps: MailQueueDeps) {
    super(project, deps.clock);
    this.#project = project;
    this.#deps = deps;
  }

  protected override due(
    store: Repositories,
    now: number,
    limit: number,
  ): Promise<EmailMessageRow[]> {
    return store.emails.due(now, limit);
  }

  protected override claim(
    writes: ProjectWrites,
    claim: InputOf<'claimMails'>,
  ): Promise<EmailMessageRow[]> {
    return writes.run('claimMails', claim);
  }

  protected override async send(
    { id: messageId }: EmailMessageRow,
    claim: number | null,
  ): Promise<void> {
    if (claim !== null) this.#claims.set(messageId, claim);
    const result = this.#unwritten.get(messageId) ?? (await this.#tried(messageId));
    const now = this.#deps.clock.now();
    const claimedUntil = this.#claims.get(messageId) ?? null;
    await this.#project.writes.run('recordMail', { messageId, result, claimedUntil, now });
    this.#unwritten.delete(messageId);
    this.#claims.delete(messageId);
  }

  async #tried(messageId: string): Promise<MailResult> {
    const result = await this.#resultOf(messageId);
    this.#unwritten.set(messageId, result);
    this.#deps.metrics?.mailSent(result.outcome);
    return result;
  }

  /** A mail that can't be composed, for any reason, is retried like one that can't be sent. */
  async #resultOf(messageId: string): Promise<MailResult> {
    try {
      const made = await this.#project.store.read((store) => look(store, messageId));
      if ('outcome' in made) return made;
      return await this.#send(made);
    } catch (error) {
      // Gets the error logged.
      this.#project.inBackground(() => Promise.reject(error));
      if (error instanceof DamageError) return later(DAMAGED);
      const name = error instanceof Error ? error.name : 'unknown';
      return later(`It could not be made (${name}).`);
    }
  }

  #send(mail: ClaimedMail): Promise<MailResult> {
    const bytes = attachmentsOf(mail.batch).reduce((sum, { size_bytes }) => sum + size_bytes, 0);
    if (bytes === 0) return this.#handOver(mail);
    return this.#deps.filesInHand.within(bytes, () => this.#handOver(mail));
  }

  async #handOver(mail: ClaimedMail): Promise<MailResult> {
    const { mailer } = this.#deps;
    const sent = await mailer.send({
      ...(await this.#compose(mail)),
      beforeData: () => this.#hand(mail.message.id),
    });
    switch (sent.outcome) {
      case 'sent':
        return { outcome: 'sent' };
      case 'unknown':
        return failure('unknown', `${sent.reason} It may have arrived, and was not sent again.`);
      case 'later':
      case 'refused': {
        const { reason, smtpCode = null, enhancedCode = null } = sent;
        const reply = { reason, smtpCode, enhancedCode };
        if (sent.outcome === 'refused') return { outcome: 'failed', code: 'refused', ...reply };
        return { outcome: 'later', retryAfterSeconds: sent.retryAfterSeconds, ...reply };
      }
    }
  }

  /** Records the hand-over durably before any byte leaves. */
  async #hand(messageId: string): Promise<void> {
    const now = this.#deps.clock.now();
    const claimedUntil = this.#claims.get(messageId) ?? null;
    const until = await this.#project.writes.run('handMail', { messageId, claimedUntil, now });
    if (until === null) throw new Error('It is not to be sent any more, or not by this gateway.');
    if (claimedUntil !== null) this.#claims.set(messageId, until);
  }

  async #compose(mail: ClaimedMail): Promise<OutgoingMail> {
    const { message, batch } = mail;
    const quote = answersOf(batch)?.quote ?? null;
    const { info } = this.#project;
    const { vault, addresses } = this.#deps;
    // If all projects send from one address, replies and reports can't reach a project.
    const domain = addresses.from === null ? addresses.domain : null;
    const token = reportToken(vault, info.id, message.id);
    const back = domain === null ? null : tokenAddresses(domain, info.slug, token);
    return {
      id: message.id,
      from: batch.sender,
      fromName: info.name,
      to: message.recipient,
      shown: shownIn(mail),
      ...(back !== null && { returnPath: back.returnPath }),
      ...(back !== null && batch.reply_to_inbox === 1 && { replyTo: back.replyTo }),
      ...threadOf(mail),
      subject: batch.subject,
      text: quote === null ? batch.text : `${batch.text.trimEnd()}\n\n${quote}\n`,
      ...(batch.html !== null && { html: batch.html }),
      attachments: await this.#files(batch),
    };
  }

  #files(batch: ClaimedBatch): Promise<OutgoingFile[]> {
    return Promise.all(
      attachmentsOf(batch).map(async ({ name, content_type, digest }) => ({
        name,
        contentType: content_type,
        bytes: await this.#project.blobs.read(digest),
      })),
    );
  }
}

/** The header's recipients. */
function shownIn({ message, messages }: ClaimedMail): NonNullable<OutgoingMail['shown']> {
  return shownTo(recipientOf(message), messages.map(recipientOf));
}

function recipientOf({ recipient: address, field }: EmailMessageRow): Recipient {
  return { address, field };
}

/** What the mail answers. The first message's id joins the copies of a mail that all recipients see. */
function threadOf({
  messages,
  batch,
}: ClaimedMail): Pick<OutgoingMail, 'inReplyTo' | 'references'> {
  const { message_id: inReplyTo = null, references = [] } = answersOf(batch) ?? {};
  const [first] = messages;
  const joint = first && isShared(messages) ? [`<${first.id}@${domainOf(batch.sender)}>`] : [];
  return { ...(inReplyTo !== null && { inReplyTo }), references: [...references, ...joint] };
}

/** The message as it is now, or the reason not to send it. */
async function look(store: Repositories, messageId: string): Promise<MailResult | ClaimedMail> {
  const message = await store.emails.find(messageId);
  const batch = message && (await store.emails.findBatch(message.batch_id));
  if (!batch || message.status !== 'queued') return VOID;
  if (message.handed_at !== null) return INTERRUPTED;
  const { text } = batch;
  if (text === null) return FORGOTTEN;
  const blocked = await sendBlocked(store);
  if (blocked) return failure('send_blocked', `Sending is blocked: ${blocked.reason}.`);
  const known = await store.emailAddresses.find(message.recipient);
  if (known?.suppressed_at) {
    const what = known.suppressed_by === 'complaint' ? 'complained' : 'bounced';
    return failure('suppressed', `Mail to this address ${what} before, so nothing is sent there.`);
  }
  const messages = await store.emails.messagesOf(batch.id);
  refuseDamagedMail(batch, messages);
  return { message, messages, batch: { ...batch, text } };
}

function failure(code: MailFailure['code'], reason: string): MailFailure {
  return { outcome: 'failed', code, reason, smtpCode: null, enhancedCode: null };
}

function later(reason: string): MailResult {
  return { outcome: 'later', retryAfterSeconds: null, reason, smtpCode: null, enhancedCode: null };
}
