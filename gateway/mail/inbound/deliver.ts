import { hash } from 'node:crypto';
import { isoTime } from '../../../shared/lib/clock.ts';
import type { PinnedBlob } from '../../../shared/kernel/context.ts';
import { DEDUP_BODY_MS, DEDUP_ID_MS, PAYLOAD_ROW_MAX_BYTES } from '../../../shared/lib/limits.ts';
import { domainOf, likelyMailbox } from '../../../shared/rules/mail/mail-address.ts';
import {
  messageIdOf,
  readProjectAddress,
  replyAddresses,
} from '../../../shared/operations/email/project-address.ts';
import { threadIds } from '../../../shared/operations/email/thread.ts';
import { HTML_NAME, type EventFileRow } from '../../../shared/store/tables/inbox/event-files.ts';
import type { EmailMessageRow } from '../../../shared/store/tables/mail/emails.ts';
import type { Repositories } from '../../../shared/store/repositories.ts';
import type { IngressGuard } from '../../projects/limits/ingress-guard.ts';
import type { Project } from '../../projects/project.ts';
import type { DeliveryAnswer } from '../../commit/commands/inbox/delivery.ts';
import { knownAs, type MailDelivery } from '../../commit/commands/mail/mail-delivery.ts';
import type { ReportOnMessage } from '../../commit/commands/mail/mails.ts';
import type { ReadMail } from './read-mail.ts';

const IDENTITY_CHARS = 32;

/** The project's email source. */
interface MailSource {
  readonly id: string;
  readonly name: string;
}

/** A mail for one project. */
export interface ArrivedMail {
  readonly mail: ReadMail;
  /** The project's addresses that it came to. */
  readonly recipients: readonly string[];
  /** The domain of these addresses. */
  readonly domain: string;
  /** Null if the project takes no mail; then only reports about its own mail matter. */
  readonly source: MailSource | null;
  readonly now: number;
}

/**
 * Delivers a mail, and returns once the result is durable: an event, a duplicate, or a recorded report. Null if the project
 * takes no mail and this isn't a report either. RATE_LIMITED or UNAVAILABLE if `guard` lets no mail in now.
 */
export async function deliverMail(
  project: Project,
  arrived: ArrivedMail,
  guard: IngressGuard,
): Promise<DeliveryAnswer | 'report' | null> {
  const { mail, now, source } = arrived;
  const ours = await project.store.read((store) => answered(store, project, arrived));
  const report = ours && reportOn(ours, mail);
  if (report) {
    const { id: messageId, by } = ours;
    const reports = report.recipients.map((recipient) => ({ messageId, recipient, by }));
    await project.writes.run('mailReports', { reports, now });
    return 'report';
  }
  if (source === null) return null;
  const { message_id: messageId } = mail.payload;
  const place = {
    sourceId: source.id,
    ids: idsOf(mail),
    knownSince: isoTime(now - (messageId === null ? DEDUP_BODY_MS : DEDUP_ID_MS)),
    verified: mail.verified,
    hash: Buffer.from(mail.digest, 'hex'),
  };
  const pins: PinnedBlob[] = [];
  try {
    const known = await project.store.read((store) =>
      knownAs(store, { ...place, parts: { identity: identityOf(mail) } }),
    );
    // A sure duplicate stores no bytes. The transaction catches copies that arrive at the same time.
    if (known?.isSame) return { status: 'duplicate', event_id: known.id };
    guard.admit(project, source, mail.size_bytes);
    const delivery = await putAway(project, mail, pins);
    const ledgerWriter = await project.ledgerWriter();
    const result = await project.writes.run('mailDelivery', {
      ...delivery,
      ...place,
      source: source.name,
      threadIds: threadIds(mail.payload),
      replyTo: ours?.takesReplies ? ours.id : null,
      now,
      digest: ledgerWriter.digest({ source: source.name, mail: mail.digest }),
    });
    return guard.settle(project, source, result);
  } finally {
    for (const { release } of pins) release();
  }
}

/** The report in a mail about a message of ours; null if it's an answer. */
function reportOn(
  { by, recipient }: OwnMessage,
  { report, payload }: ReadMail,
): ReadMail['report'] {
  if (report === null || report.basis === 'fields') return report;
  // Whoever got the message writes about it: an absence notice goes to the return path too.
  const isOfReader = likelyMailbox(payload.from?.address ?? '') === likelyMailbox(recipient);
  if (isOfReader || (report.basis === 'guess' && by !== 'return_path')) return null;
  return report;
}

function idsOf(mail: ReadMail): MailDelivery['ids'] {
  const { payload, digest } = mail;
  const plain = payload.message_id ?? `sha256:${digest}`;
  // A Message-ID has no blank and a domain no colon, so the forms never clash.
  return {
    plain,
    ofDomain: `${plain} ${domainOf(payload.from?.address ?? '')}`,
    ofOther: `${plain} other:${identityOf(mail)}`,
  };
}

/** A copy that took another way here has the same From, Date and Subject, but for the white space between words. */
function identityOf({ payload: { from, date, subject } }: ReadMail): string {
  const sender = from && [from.address.toLowerCase(), from.name];
  const words = subject.replaceAll(/\s+/g, ' ').trim();
  return hash('sha256', JSON.stringify([sender, date, words])).slice(0, IDENTITY_CHARS);
}

/** A message of ours. Replies are linked to it if it asked for replies. */
interface OwnMessage {
  readonly id: string;
  readonly takesReplies: boolean;
  readonly recipient: string;
  /** Whether a report came to the return path, and if not, whether its sender is verified. */
  readonly by: ReportOnMessage['by'];
}

/** Finds our message that a mail answers or reports on, by the address it came to or else by the ids it refers to. */
async function answered(
  store: Repositories,
  { info }: Project,
  arrived: ArrivedMail,
): Promise<OwnMessage | null> {
  const found = await findAnswered(store, info.slug, arrived);
  const batch = found && (await store.emails.findBatch(found.message.batch_id));
  if (!batch) return null;
  const others = arrived.mail.verified ? 'somebody_verified' : 'somebody';
  return {
    id: found.message.id,
    takesReplies: batch.reply_to_inbox === 1,
    recipient: found.message.recipient,
    by: found.isForReports ? 'return_path' : others,
  };
}

async function findAnswered(
  { emails }: Repositories,
  slug: string,
  { mail, recipients, domain }: ArrivedMail,
): Promise<{ readonly message: EmailMessageRow; readonly isForReports: boolean } | null> {
  for (const recipient of [...recipients, ...replyAddresses(mail.payload, domain)]) {
    const read = readProjectAddress(recipient, domain);
    if (read?.slug !== slug || read.token === null) continue;
    const message = await emails.findByToken(hash('sha256', read.token));
    if (message) return { message, isForReports: read.isForReports };
  }
  const { in_reply_to, references } = mail.payload;
  const original = mail.report?.original_message_id ?? null;
  const ids = [original, in_reply_to, ...references.toReversed()];
  for (const id of ids) {
    const messageId = id === null ? null : messageIdOf(id);
    const message = messageId === null ? undefined : await emails.find(messageId);
    if (message) return { message, isForReports: false };
  }
  return null;
}

type StoredMail = Omit<
  MailDelivery,
  | 'sourceId'
  | 'source'
  | 'ids'
  | 'knownSince'
  | 'verified'
  | 'hash'
  | 'threadIds'
  | 'replyTo'
  | 'now'
  | 'digest'
>;

/** Stores large content outside the database. The pins keep it until its rows exist. */
async function putAway(project: Project, mail: ReadMail, pins: PinnedBlob[]): Promise<StoredMail> {
  const put = async (bytes: Uint8Array, digest?: string): Promise<string> => {
    const pin = await project.blobs.put(bytes, digest);
    pins.push(pin);
    return pin.digest;
  };
  const files: EventFileRow[] = [];
  for (const { name, content_type, sha256, bytes } of mail.files) {
    const digest = await put(bytes, sha256);
    files.push({ name, content_type, digest, size_bytes: bytes.length });
  }
  if (mail.html) {
    const { bytes, sha256 } = mail.html;
    const digest = await put(bytes, sha256);
    files.push({
      name: HTML_NAME,
      content_type: 'text/html',
      digest,
      size_bytes: bytes.length,
    });
  }
  const { bytes: payload, sha256 } = mail.payload_json;
  const isLarge = payload.length > PAYLOAD_ROW_MAX_BYTES;
  return {
    body: isLarge ? null : payload,
    blob: isLarge ? await put(payload, sha256) : null,
    sizeBytes: payload.length,
    sender: mail.verified ? (mail.payload.from?.address ?? null) : null,
    parts: {
      attachments: mail.files.map(({ bytes, ...file }) => ({ ...file, size_bytes: bytes.length })),
      attachments_blocked: [...mail.blocked],
      html: mail.html !== null,
      identity: identityOf(mail),
    },
    files,
  };
}
