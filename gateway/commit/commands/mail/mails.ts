import { isoTime } from '../../../../shared/lib/clock.ts';
import { dropReference } from '../../../../shared/operations/file/quota.ts';
import { attachmentsOf } from '../../../../shared/operations/email/attachments.ts';
import {
  setSendBlocked,
  sendBlocked,
  reputationOf,
} from '../../../../shared/operations/email/quota.ts';
import type { MailReport } from './mail-report.ts';
import { mailEnded } from '../../../../shared/operations/inbox/mail-ended.ts';
import { isPassing, isUnknownAddress } from './mail-status.ts';
import { noticePause } from '../people/notice-pause.ts';
import { SERVICE } from '../../../../shared/rules/actor.ts';
import { dayOf } from '../../../../shared/rules/mail/send-limit.ts';
import type { EmailMessageRow } from '../../../../shared/store/tables/mail/emails.ts';
import { type Deletion, type Job, type Command } from '../../context/job.ts';
import { approvalContext } from '../../context/approval-context.ts';

/** For this long nobody retries a message that is being sent; a server answers far sooner. */
const HANDED_MS = 600_000;

/** If several gateways send for a project, the sender has claimed the message until its due time. */
interface SendClaim {
  /** Null if only one gateway sends. */
  readonly claimedUntil: number | null;
}

interface Handing extends SendClaim {
  readonly messageId: string;
  readonly now: number;
}

/**
 * Marks a message as leaving; returns the time until which no gateway touches it. Null if the message must not leave
 * any more (it may have waited long for its server since the last check), or if the claim has lapsed.
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

/** Another gateway has claimed the message. */
function isLost({ due_at }: EmailMessageRow, { claimedUntil }: SendClaim): boolean {
  return claimedUntil !== null && due_at !== claimedUntil;
}

/** The reply of a mail server. */
interface Reply {
  readonly reason: string;
  readonly smtpCode: number | null;
  /** `5.1.1` (RFC 3463). */
  readonly enhancedCode: string | null;
}

/** The result of sending a message. */
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

interface SentMail extends SendClaim {
  readonly messageId: string;
  readonly result: MailResult;
  readonly now: number;
}

/** Records the result of sending; a final failure becomes the event `email.failed`. */
export const recordMail: Command<SentMail, null> = {
  async run(job, { messageId, result, claimedUntil, now }) {
    const message = await job.store.emails.find(messageId);
    if (!message || result.outcome === 'void') return null;
    // A cancelled message may have gone out all the same, if a server had it at that moment.
    const isExpected = message.status === 'queued' && !isLost(message, { claimedUntil });
    const wentOut = result.outcome === 'sent' && ['queued', 'cancelled'].includes(message.status);
    if (!isExpected && !wentOut) return null;
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
  await ledgerWriter.record(store, { actor: SERVICE, op: 'email.sent', subject: message.id }, now);
}

async function recordFailed(
  job: Job,
  message: EmailMessageRow,
  why: Reply & { readonly code: string },
  now: number,
): Promise<void> {
  const { store, ledgerWriter } = job;
  await store.emails.end(message.id, 'failed', why);
  await ledgerWriter.record(
    store,
    { actor: SERVICE, op: 'email.failed', subject: message.id },
    now,
  );
  await mailEnded(approvalContext(job, now, SERVICE), message, 'failed');
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

interface DeliveryFailure extends Reply {
  /** The same as the message's own error code. */
  readonly code: string;
  readonly type: 'email.failed' | 'email.bounced';
  readonly stage: 'smtp' | 'dsn' | 'complaint';
  readonly bounceType: 'hard' | 'soft' | null;
}

async function announce(job: Job, message: EmailMessageRow, told: DeliveryFailure, now: number) {
  const batch = await job.store.emails.findBatch(message.batch_id);
  await approvalContext(job, now, SERVICE).writeEvent({
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

/** Counts a report for its day, and blocks all sending if there are too many. */
async function countReport(job: Job, what: 'bounced' | 'complained', now: number): Promise<void> {
  const { store, ledgerWriter, project } = job;
  await store.emailAddresses.count(dayOf(now), what, 1);
  const reason = await reputationOf(store, now);
  if (reason === null || (await sendBlocked(store))) return;
  await setSendBlocked(store, { reason, at: isoTime(now) });
  await ledgerWriter.record(
    store,
    { actor: SERVICE, op: 'send.blocked', subject: project.id },
    now,
  );
}

/** A report about one message that we sent. */
export interface ReportOnMessage {
  readonly messageId: string;
  readonly recipient: MailReport['recipients'][number];
  /**
   * Who sent the report: the sender wrote to the message's return path, as mail servers do, or (verified or not)
   * knows only its Message-ID.
   */
  readonly by: 'return_path' | 'somebody_verified' | 'somebody';
}

/** The states in which a message still accepts a report: it bounces only once. */
const REPORTABLE: readonly string[] = ['queued', 'sent', 'failed'];

/**
 * Applies a report to a message: it bounced, for good or for now, or its reader complained. False if nothing changes.
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
  await ledgerWriter.record(
    store,
    { actor: SERVICE, op: 'email.bounced', subject: message.id },
    now,
  );
  await mailEnded(approvalContext(job, now, SERVICE), message, 'bounced');
  const told = { code, reason, smtpCode: null, enhancedCode: recipient.status, stage, bounceType };
  await announce(job, message, { type: 'email.bounced', ...told }, now);
  return true;
}

/**
 * Whether a report may suppress an address or block all sending. Anyone who got a copy of an answer knows the
 * Message-ID and could fake a report. Feedback loops also identify mails by it, but they sign their reports, so a
 * verified complaint counts.
 */
function isBelieved(code: Meaning['code'], by: ReportOnMessage['by']): boolean {
  return by === 'return_path' || (code === 'complained' && by === 'somebody_verified');
}

type Recipient = ReportOnMessage['recipient'];

interface Meaning extends Pick<DeliveryFailure, 'reason' | 'stage' | 'bounceType'> {
  /** Also the name of the counter. */
  readonly code: 'bounced' | 'complained';
}

/** Null for a report that isn't final, such as a delay. */
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

/** Deletes the content of expired mails; returns how many. */
export const forgetMails: Command<Deletion, number> = {
  async run(job, { asOf, limit }) {
    const { store } = job;
    const batches = await store.emails.forgettable(asOf, limit);
    for (const batch of batches) {
      await store.emails.forget(batch.id);
      for (const { digest } of attachmentsOf(batch)) {
        await dropReference(job, digest);
      }
    }
    return batches.length;
  },
};
