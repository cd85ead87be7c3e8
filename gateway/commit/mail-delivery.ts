import { isoTime } from '../../shared/lib/clock.ts';
import { newId } from '../../shared/lib/ids.ts';
import { actorNamed } from '../../shared/rules/actor.ts';
import type { MailParts } from '../../shared/rules/mail-parts.ts';
import type { EventFileRow } from '../../shared/store/event-files.ts';
import { MAIL_CONTENT_TYPE } from '../../shared/store/events.ts';
import type { Repositories } from '../../shared/store/repositories.ts';
import { storedBytes } from '../../shared/store/source-use.ts';
import type { StoredAnswer } from './delivery.ts';
import type { Job, Command } from './job.ts';
import { threadOfReceived } from '../../shared/operations/email/thread.ts';
import { mailAnswered } from '../../shared/operations/inbox/mail-ended.ts';
import { approvalContext } from './approval-context.ts';
import { applyReport, type ReportOnMessage } from './mails.ts';
import { announce } from './routing.ts';
import { limitOf } from './source-limit.ts';

/**
 * The ids that detect a duplicate mail: `plain` is the Message-ID or a substitute; `ofDomain` adds the sender's
 * domain. A verified mail matches by `ofDomain` only, because a stranger who guesses a Message-ID could otherwise
 * keep the real mail out.
 */
interface MailIds {
  readonly plain: string;
  readonly ofDomain: string;
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

/** Stores a mail unless its Message-ID makes it a duplicate. */
export const mailDelivery: Command<MailDelivery, StoredAnswer> = {
  run: insertOnce,
  sizeBytes: ({ body }) => body?.length ?? 0,
};

async function insertOnce(job: Job, came: MailDelivery): Promise<StoredAnswer> {
  const { store, ledgerWriter } = job;
  const { sourceId, source, now, ids, digest, files } = came;
  const known = await knownAs(store, came);
  if (known) return { status: 'duplicate', event_id: known.id };
  const limit = await limitOf(job, { id: sourceId, name: source }, now);
  if (limit) return { status: 'limited', limit };
  const threads = { store, newThread: () => newId('thr', now) };
  const threadId = await threadOfReceived(threads, came.threadIds, came.replyTo);
  const { seq, receivedAt } = await store.events.nextPlace(isoTime(now));
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
    providerId: came.verified ? ids.ofDomain : ids.plain,
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
  await store.events.insert(event, seq);
  if (came.blob !== null) await store.blobs.addReference(came.blob, came.sizeBytes);
  for (const file of files) {
    await store.eventFiles.insert(seq, file);
    await store.blobs.addReference(file.digest, file.size_bytes);
  }
  if (came.sender !== null) await store.emailAddresses.noteReceived(came.sender, receivedAt);
  const { headers } = event.content;
  const bytes = storedBytes({ sizeBytes: came.sizeBytes, headers, files });
  const isNewHour = await store.sourceUse.add(sourceId, bytes, now);
  store.sources.countAccepted(sourceId, now, receivedAt, isNewHour);
  const actor = actorNamed(sourceId);
  const action = { actor, op: 'event.received', subject: event.id, inputDigest: digest };
  await ledgerWriter.record(store, action, now);
  if (came.replyTo !== null) await mailAnswered(approvalContext(job, now, actor), came.replyTo);
  await announce(job, { seq, source, type: TYPE }, now);
  return { status: 'accepted', event_id: event.id };
}

/** Returns the earlier event of the same mail; `isSame` says that the bytes are equal. */
export async function knownAs(
  { events }: Pick<Repositories, 'events'>,
  came: Pick<MailDelivery, 'sourceId' | 'ids' | 'knownSince' | 'verified' | 'hash'>,
): Promise<{ readonly id: string; readonly isSame: boolean } | null> {
  const { plain, ofDomain } = came.ids;
  const delivered = await events.deliveredAsEither(
    came.sourceId,
    [plain, ofDomain],
    came.knownSince,
  );
  const marked = delivered.map(({ id, provider_id, body_hash }) => ({
    id,
    isOther: came.verified && provider_id !== ofDomain,
    isSame: Buffer.from(body_hash).equals(came.hash),
  }));
  return marked.find(({ isOther, isSame }) => isSame || !isOther) ?? null;
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
