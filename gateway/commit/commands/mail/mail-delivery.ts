import { isoTime } from '../../../../shared/lib/clock.ts';
import { newId } from '../../../../shared/lib/ids.ts';
import { actorNamed } from '../../../../shared/rules/actor.ts';
import { setAsideReason } from '../inbox/set-aside.ts';
import type { MailParts } from '../../../../shared/rules/mail/mail-parts.ts';
import type { EventFileRow } from '../../../../shared/store/tables/inbox/event-files.ts';
import { MAIL_CONTENT_TYPE } from '../../../../shared/store/tables/inbox/events.ts';
import type { Repositories } from '../../../../shared/store/repositories.ts';
import { storedBytes } from '../../../../shared/store/tables/inbox/source-use.ts';
import type { StoredAnswer } from '../inbox/delivery.ts';
import type { Job, Command } from '../../context/job.ts';
import { threadOfReceived } from '../../../../shared/operations/email/thread.ts';
import { mailAnswered } from '../../../../shared/operations/inbox/mail-ended.ts';
import { approvalContext } from '../../context/approval-context.ts';
import { applyReport, type ReportOnMessage } from './mails.ts';
import { announce } from '../inbox/routing.ts';
import { limitOf } from '../inbox/source-limit.ts';

/**
 * The ids that detect a duplicate mail: `plain` is the Message-ID or a substitute; `ofDomain` adds the sender's
 * domain. A verified mail matches by `ofDomain` only, because a stranger who guesses a Message-ID could otherwise
 * keep the real mail out.
 */
interface MailIds {
  readonly plain: string;
  readonly ofDomain: string;
  /** For a mail that is set aside, because another one came under its Message-ID before. */
  readonly ofOther: string;
}

/** A mail after verification and parsing; its files are stored. */
export interface MailDelivery {
  readonly sourceId: string;
  readonly source: string;
  readonly verified: boolean;
  readonly now: number;
  /** The payload as JSON; null if `blob` names it. */
  readonly body: Uint8Array | null;
  readonly blob: string | null;
  readonly sizeBytes: number;
  /** SHA-256 of the mail as received. */
  readonly hash: Uint8Array;
  readonly ids: MailIds;
  /** Only mails received since this time (ISO) count as duplicates. */
  readonly knownSince: string;
  /** The id of our message that this mail answers. */
  readonly replyTo: string | null;
  /** The Message-IDs that tell its thread, the nearest first. */
  readonly threadIds: readonly string[];
  /** The sender's address; null if no check proves it. */
  readonly sender: string | null;
  readonly parts: MailParts;
  readonly files: readonly EventFileRow[];
  /** Keyed digest of the mail, for the ledger. */
  readonly digest: string;
}

const TYPE = 'email.received';

/**
 * Stores a mail unless its Message-ID makes it a duplicate. A duplicate with another From, Date or Subject is another mail
 * whose sender re-uses ids: it's kept as a dead event, which people can look at and requeue.
 */
export const mailDelivery: Command<MailDelivery, StoredAnswer> = {
  run: insertOnce,
  sizeBytes: ({ body }) => body?.length ?? 0,
};

async function insertOnce(job: Job, came: MailDelivery): Promise<StoredAnswer> {
  const { sourceId, source, now, ids, verified } = came;
  const known = await knownAs(job.store, came);
  if (known && !(known.differs && (await isNew(job.store, came)))) {
    return { status: 'duplicate', event_id: known.id };
  }
  const limit = await limitOf(job, { id: sourceId, name: source }, now);
  if (limit) return { status: 'limited', limit };
  if (known) {
    await setAside(job, await store(job, came, ids.ofOther), { earlier: known.id, now });
    return { status: 'duplicate', event_id: known.id };
  }
  const stored = await store(job, came, verified ? ids.ofDomain : ids.plain);
  await recordMail(job, came, stored);
  return { status: 'accepted', event_id: stored.id };
}

/** Whether this mail hasn't been set aside before. */
async function isNew(
  { events }: Pick<Repositories, 'events'>,
  { sourceId, ids, knownSince }: MailDelivery,
): Promise<boolean> {
  return (await events.deliveredAs(sourceId, ids.ofOther, knownSince)) === null;
}

interface StoredMail {
  readonly id: string;
  readonly seq: number;
  readonly receivedAt: string;
  /** It's the first one of its source in this hour. */
  readonly isNewHour: boolean;
}

async function store(job: Job, came: MailDelivery, providerId: string): Promise<StoredMail> {
  const { store: rows, ledgerWriter } = job;
  const { sourceId, source, now, digest, files } = came;
  const threads = { store: rows, newThread: () => newId('thr', now) };
  const threadId = await threadOfReceived(threads, came.threadIds, came.replyTo);
  const { seq, receivedAt } = await rows.events.nextPlace(isoTime(now));
  const event = {
    id: newId('evt', now),
    sourceId,
    source,
    channel: 'email',
    type: TYPE,
    receivedAt,
    verified: came.verified,
    trust: 'external_untrusted' as const,
    suspectedReplay: false,
    sizeBytes: came.sizeBytes,
    providerId,
    bodyHash: came.hash,
    replyTo: came.replyTo,
    threadId,
    content: {
      headers: JSON.stringify(came.parts),
      contentType: MAIL_CONTENT_TYPE,
      kind: 'json' as const,
      body: came.body,
      blob: came.blob,
    },
  };
  await rows.events.insert(event, seq);
  if (came.blob !== null) await rows.blobs.addReference(came.blob, came.sizeBytes);
  for (const file of files) {
    await rows.eventFiles.insert(seq, file);
    await rows.blobs.addReference(file.digest, file.size_bytes);
  }
  const { headers } = event.content;
  const bytes = storedBytes({ sizeBytes: came.sizeBytes, headers, files });
  const isNewHour = await rows.sourceUse.add(sourceId, bytes, now);
  const actor = actorNamed(sourceId);
  const action = { actor, op: 'event.received', subject: event.id, inputDigest: digest };
  await ledgerWriter.record(rows, action, now);
  return { id: event.id, seq, receivedAt, isNewHour };
}

async function recordMail(job: Job, came: MailDelivery, stored: StoredMail): Promise<void> {
  const { store: rows } = job;
  const { sourceId, source, now, sender, replyTo } = came;
  const { seq, receivedAt, isNewHour } = stored;
  if (sender !== null) await rows.emailAddresses.noteReceived(sender, receivedAt);
  rows.sources.countAccepted(sourceId, now, receivedAt, isNewHour);
  const actor = actorNamed(sourceId);
  if (replyTo !== null) await mailAnswered(approvalContext(job, now, actor), replyTo);
  await announce(job, { seq, source, type: TYPE }, now);
}

const DEAD = {
  status: 'dead',
  attempts: 0,
  lease_id: null,
  holder_key_id: null,
  due_at: null,
  routed: false,
} as const;

async function setAside(
  { store: { events }, emit }: Job,
  { seq }: StoredMail,
  { earlier, now }: { readonly earlier: string; readonly now: number },
): Promise<void> {
  await events.setQueue(seq, DEAD, isoTime(now));
  await events.setRemark(seq, 'reason', JSON.stringify(setAsideReason(earlier)));
  emit({ kind: 'inbox_changed' });
}

/** An earlier mail with this Message-ID. */
interface KnownMail {
  readonly id: string;
  /** The bytes are equal. */
  readonly isSame: boolean;
  /** From, Date or Subject differ, so it's another mail. */
  readonly differs: boolean;
}

/** The earlier mail that makes this one a duplicate: the same one if it's there. Null if there is none. */
export async function knownAs(
  { mailCopies }: Pick<Repositories, 'mailCopies'>,
  came: Pick<MailDelivery, 'sourceId' | 'ids' | 'knownSince' | 'verified' | 'hash'> & {
    readonly parts: Pick<MailParts, 'identity'>;
  },
): Promise<KnownMail | null> {
  const { plain, ofDomain } = came.ids;
  const { sourceId, knownSince } = came;
  const delivered = await mailCopies.deliveredAs(sourceId, [plain, ofDomain], knownSince);
  const known = delivered
    .map(({ id, provider_id, body_hash, identity }) => ({
      id,
      isOther: came.verified && provider_id !== ofDomain,
      isSame: Buffer.from(body_hash).equals(came.hash),
      differs: identity !== null && identity !== came.parts.identity,
    }))
    .filter(({ isOther, isSame }) => isSame || !isOther);
  return known.find(({ isSame, differs }) => isSame || !differs) ?? known[0] ?? null;
}

interface ReportsOnMessages {
  readonly reports: readonly ReportOnMessage[];
  readonly now: number;
}

/** Applies reports about sent messages; returns how many messages changed. */
export const mailReports: Command<ReportsOnMessages, number> = {
  async run(job, { reports, now }) {
    let changed = 0;
    for (const report of reports) if (await applyReport(job, report, now)) changed += 1;
    return changed;
  },
};
