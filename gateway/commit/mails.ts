import { isoTime } from '../../shared/lib/clock.ts';
import { dropReference } from '../../shared/operations/file/quota.ts';
import { attachmentsOf } from '../../shared/operations/email/attachments.ts';
import { setSendBlocked, sendBlocked, reputationOf } from '../../shared/operations/email/quota.ts';
import type { MailReport } from '../lib/mail-report.ts';
import { isPassing, isUnknownAddress } from './mail-status.ts';
import { noticePause } from './notice-pause.ts';
import { dayOf } from '../../shared/rules/send-limit.ts';
import type { EmailMessageRow } from '../../shared/store/emails.ts';
import { type Deletion, type Job, type Command } from './job.ts';
import { approvalContext } from './approval-context.ts';

/** How long a message is left alone whose bytes are leaving: far longer than its server may take. */
const HANDED_MS = 600_000;

/** Whoever sends for a project that others send for as well has claimed the message, until the time at which it is due. */
interface Claimed {
  /** Null where nobody else sends. */
  readonly claimedUntil: number | null;
}

interface Handing extends Claimed {
  readonly messageId: string;
  readonly now: number;
}

/**
 * Notes that the bytes of a message are about to leave, and answers until when nobody else touches it. Null when it is not to
 * be sent any more, because it may have waited long for its server since it was looked at, and when its claim has lapsed.
 */
export const handMail: Command<Handing, number | null> = {
  async run({ store, emit }, { messageId, claimedUntil, now }) {
    const message = await store.emails.find(messageId);
    if (!message || (await sendBlocked(store))) return null;
    if (isLost(message, { claimedUntil }) || (claimedUntil ?? Infinity) <= now) return null;
    const known = await store.emailAddresses.find(message.recipient);
    if (known?.suppressed_at || !(await store.emails.setHanded(messageId, now))) return null;
    const until = now + HANDED_MS;
    if (claimedUntil !== null) {
      await store.emails.deferAll([messageId], until);
      emit({ kind: 'due', at: until });
    }
    return until;
  },
};

/** Somebody else has it in hand. */
function isLost({ due_at }: EmailMessageRow, { claimedUntil }: Claimed): boolean {
  return claimedUntil !== null && due_at !== claimedUntil;
}

/** What a server said, where one did. */
interface Reply {
  readonly reason: string;
  readonly smtpCode: number | null;
  /** `5.1.1` (RFC 3463). */
  readonly enhancedCode: string | null;
}

/** How the sending of a message fared. */
export type MailResult =
  | { readonly outcome: 'sent' }
  | { readonly outcome: 'void' }
  | MailDelay
  | MailFailure;

interface MailDelay extends Reply {
  readonly outcome: 'later';
  readonly retryAfterSeconds: number | null;
}

export interface MailFailure extends Reply {
  readonly outcome: 'failed';
  readonly code: 'refused' | 'unknown' | 'suppressed' | 'send_blocked' | 'gave_up';
}

interface SentMail extends Claimed {
  readonly messageId: string;
  readonly result: MailResult;
  readonly now: number;
}

/** Writes down how sending fared; what failed for good becomes the event `email.failed`. */
export const recordMail: Command<SentMail, null> = {
  async run(job, { messageId, result, claimedUntil, now }) {
    const message = await job.store.emails.find(messageId);
    if (message?.status !== 'queued' || result.outcome === 'void') return null;
    if (result.outcome !== 'sent' && isLost(message, { claimedUntil })) return null;
    if (result.outcome === 'sent') await recordSent(job, message, now);
    else if (result.outcome === 'failed') await recordFailed(job, message, result, now);
    else await recordDelay(job, message, result, now);
    return null;
  },
};

async function recordDelay(job: Job, message: EmailMessageRow, delay: MailDelay, now: number) {
  const pauseMs = noticePause(message.attempts + 1, delay.retryAfterSeconds);
  if (pauseMs === null) return recordFailed(job, message, { ...delay, code: 'gave_up' }, now);
  await job.store.emails.retryAt(message.id, now + pauseMs, delay.reason);
  job.emit({ kind: 'due', at: now + pauseMs });
}

async function recordSent({ store, ledgerWriter }: Job, message: EmailMessageRow, now: number) {
  const nowIso = isoTime(now);
  await store.emails.setSent(message.id, nowIso);
  await store.emailAddresses.noteSent(message.recipient, nowIso);
  await store.emailAddresses.count(dayOf(now), 'sent', 1);
  await ledgerWriter.record(store, { op: 'email.sent', subject: message.id }, now);
}

async function recordFailed(
  job: Job,
  message: EmailMessageRow,
  why: Reply & { readonly code: string },
  now: number,
): Promise<void> {
  const { store, ledgerWriter } = job;
  await store.emails.end(message.id, 'failed', why);
  await ledgerWriter.record(store, { op: 'email.failed', subject: message.id }, now);
  await announce(
    job,
    message,
    { type: 'email.failed', stage: 'smtp', bounceType: null, ...why },
    now,
  );
  if (why.code !== 'refused' || !isUnknownAddress(why.enhancedCode)) return;
  await store.emailAddresses.suppress(message.recipient, 'bounce', isoTime(now));
  await countReport(job, 'bounced', now);
}

interface Told extends Reply {
  /** The same as in the error of the message. */
  readonly code: string;
  readonly type: 'email.failed' | 'email.bounced';
  readonly stage: 'smtp' | 'dsn' | 'complaint';
  readonly bounceType: 'hard' | 'soft' | null;
}

async function announce(job: Job, message: EmailMessageRow, told: Told, now: number) {
  const batch = await job.store.emails.findBatch(message.batch_id);
  await approvalContext(job, now).writeEvent({
    type: told.type,
    payload: {
      message_id: message.id,
      batch_id: message.batch_id,
      to: message.recipient,
      subject: batch?.subject ?? '',
      stage: told.stage,
      code: told.code,
      smtp_code: told.smtpCode,
      enhanced_code: told.enhancedCode,
      diagnostic: told.reason,
      bounce_type: told.bounceType,
      at: isoTime(now),
    },
    callback: null,
  });
}

/** Adds a report to its day, and ends all sending when there are too many of them. */
async function countReport(job: Job, what: 'bounced' | 'complained', now: number): Promise<void> {
  const { store, ledgerWriter, project } = job;
  await store.emailAddresses.count(dayOf(now), what, 1);
  const reason = await reputationOf(store, now);
  if (reason === null || (await sendBlocked(store))) return;
  await setSendBlocked(store, { reason, at: isoTime(now) });
  await ledgerWriter.record(store, { op: 'send.blocked', subject: project.id }, now);
}

/** A report about one message of ours: which, and what it says. */
export interface ReportOnMessage {
  readonly messageId: string;
  readonly recipient: MailReport['recipients'][number];
  /** Whoever answered to the return path of the message, where servers report; or somebody who knows its Message-ID. */
  readonly by: 'return_path' | 'somebody_verified' | 'somebody';
}

/** A message after which a report may still come. One that has bounced bounces once. */
const REPORTABLE: readonly string[] = ['queued', 'sent', 'failed'];

/**
 * What a report makes of a message: it has bounced, for good or for now, or its reader complained.
 * False when it changes nothing.
 */
export async function applyReport(
  job: Job,
  { messageId, recipient, by }: ReportOnMessage,
  now: number,
): Promise<boolean> {
  const { store, ledgerWriter } = job;
  const meaning = meaningOf(recipient);
  const message = await store.emails.find(messageId);
  if (!meaning || !message || !REPORTABLE.includes(message.status)) return false;
  const { code, reason, stage, bounceType } = meaning;
  await store.emails.end(message.id, 'bounced', { code, reason });
  if (bounceType === 'hard' && isBelieved(code, by)) {
    const why = code === 'complained' ? 'complaint' : 'bounce';
    await store.emailAddresses.suppress(message.recipient, why, isoTime(now));
    await countReport(job, code, now);
  }
  await ledgerWriter.record(store, { op: 'email.bounced', subject: message.id }, now);
  const told = { code, reason, smtpCode: null, enhancedCode: recipient.status, stage, bounceType };
  await announce(job, message, { type: 'email.bounced', ...told }, now);
  return true;
}

/**
 * Whether a report ends more than the message it is about. Everybody who was sent a copy of an answer knows a Message-ID, and
 * could have an address suppressed, or all sending blocked. Feedback loops report by it, and sign what they write.
 */
function isBelieved(code: Meaning['code'], by: ReportOnMessage['by']): boolean {
  return by === 'return_path' || (code === 'complained' && by === 'somebody_verified');
}

type Recipient = ReportOnMessage['recipient'];

interface Meaning extends Pick<Told, 'reason' | 'stage' | 'bounceType'> {
  /** Also what is counted. */
  readonly code: 'bounced' | 'complained';
}

/** Null for what is no end, such as a delay. */
function meaningOf({ action, status, diagnostic }: Recipient): Meaning | null {
  if (action === 'complaint') {
    const reason = diagnostic ?? 'The reader reported it.';
    return { code: 'complained', reason, stage: 'complaint', bounceType: 'hard' };
  }
  if (action !== 'failed') return null;
  const bounceType = isPassing(status) ? 'soft' : 'hard';
  const reason = diagnostic ?? 'No reason was given.';
  return { code: 'bounced', reason, stage: 'dsn', bounceType };
}

/** Deletes what was in mails past their time; answers how many. */
export const forgetMails: Command<Deletion, number> = {
  async run(job, { now, asOf, limit }) {
    const { store } = job;
    const batches = await store.emails.forgettable(asOf, limit);
    for (const batch of batches) {
      await store.emails.forget(batch.id);
      for (const { digest } of attachmentsOf(batch)) {
        await dropReference(approvalContext(job, now), digest);
      }
    }
    return batches.length;
  },
};
