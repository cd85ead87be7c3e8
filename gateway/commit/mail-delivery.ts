import { isoTime } from '../../shared/lib/clock.ts';
import { newId } from '../../shared/lib/ids.ts';
import type { MailParts } from '../../shared/rules/mail-parts.ts';
import type { EventFileRow } from '../../shared/store/event-files.ts';
import { MAIL_CONTENT_TYPE } from '../../shared/store/events.ts';
import type { Repositories } from '../../shared/store/repositories.ts';
import type { DeliveryAnswer } from './delivery.ts';
import type { Job, Command } from './job.ts';
import { applyReport, type ReportOnMessage } from './mails.ts';
import { announce } from './routing.ts';

/**
 * What a mail is known by: its Message-ID, or what stands for one, and the same with the domain it is from. A verified mail
 * is known by the second alone: who knows a Message-ID beforehand must not keep the genuine mail out with one of his own.
 */
interface MailIds {
  readonly plain: string;
  readonly ofDomain: string;
}

/** A mail that was checked and understood, its files stored. */
export interface MailDelivery {
  readonly sourceId: string;
  readonly source: string;
  readonly verified: boolean;
  readonly now: number;
  /** The payload as JSON, or null when `blob` names it. */
  readonly body: Uint8Array | null;
  readonly blob: string | null;
  readonly sizeBytes: number;
  /** SHA-256 of the mail as it came. */
  readonly hash: Uint8Array;
  readonly ids: MailIds;
  /** Another one that came with that before (ISO) makes it no copy. */
  readonly knownSince: string;
  /** The message of ours that it answers. */
  readonly replyTo: string | null;
  /** Whom it is from; null when that is not known for sure. */
  readonly sender: string | null;
  readonly parts: MailParts;
  readonly files: readonly EventFileRow[];
  /** Keyed digest of what came, for the ledger. */
  readonly digest: string;
}

const TYPE = 'email.received';

/** Stores a mail unless it is known by its Message-ID. */
export const mailDelivery: Command<MailDelivery, DeliveryAnswer> = {
  run: insertOnce,
  sizeBytes: ({ body }) => body?.length ?? 0,
};

async function insertOnce(job: Job, came: MailDelivery): Promise<DeliveryAnswer> {
  const { store, ledgerWriter } = job;
  const { sourceId, source, now, ids, digest, files } = came;
  const known = await knownAs(store, came);
  if (known) return { status: 'duplicate', event_id: known.id };
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
  store.sources.countAccepted(sourceId, now, receivedAt);
  const action = { op: 'event.received', subject: event.id, inputDigest: digest };
  await ledgerWriter.record(store, action, now);
  await announce(job, { seq, source, type: TYPE }, now);
  return { status: 'accepted', event_id: event.id };
}

/** The event that a mail became before. */
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

/** Writes down what a report says of messages that were sent; answers how many it changed. */
export const mailReports: Command<ReportsOnMessages, number> = {
  async run(job, { reports, now }) {
    let changed = 0;
    for (const report of reports) if (await applyReport(job, report, now)) changed += 1;
    return changed;
  },
};
