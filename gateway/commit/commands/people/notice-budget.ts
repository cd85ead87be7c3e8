import { isoTime } from '../../../../shared/lib/clock.ts';
import { actorNamed, SERVICE } from '../../../../shared/rules/actor.ts';
import {
  admitNotice as admitted,
  afterDigest,
  digestDue,
  isUrgentRequest,
} from '../../../../shared/rules/requests/notice-budget.ts';
import { notifyDigest } from '../../../../shared/operations/request/notify.ts';
import type { BudgetOf } from '../../../../shared/store/tables/people/notice-budgets.ts';
import type { NoticeRow } from '../../../../shared/store/tables/people/notices.ts';
import { approvalContext } from '../../context/approval-context.ts';
import type { Command, Job } from '../../context/job.ts';

interface Admission {
  readonly noticeId: string;
  /** Whether messages of this kind of channel are counted. */
  readonly isCounted: boolean;
  readonly now: number;
}

/** Counts a message before it is sent. False if it is not to be sent now: it waits, or nobody wants it any more. */
export const admitNotice: Command<Admission, boolean> = {
  async run(job, { noticeId, isCounted, now }) {
    const { notices, noticeBudgets, requests } = job.store;
    const notice = await notices.find(noticeId);
    if (notice?.status !== 'queued') return false;
    if (notice.admitted === 1) return true;
    if (notice.kind === 'digest') return admitDigest(job, notice, { isCounted, now });
    const request = await requests.find(notice.request_id ?? '');
    // Sending will notice that there is nothing to say.
    if (!request) return true;
    const of = { channelId: notice.channel_id, keyId: request.key_id };
    const areOthersHeld = (await notices.held(of.channelId, of.keyId)).length > 0;
    const budget = await noticeBudgets.find(of);
    const message = { isUrgent: isUrgentRequest(request), areOthersHeld, isCounted };
    const after = admitted(budget, message, now);
    if (after === null) {
      await notices.hold(notice.id);
      await ensureDigest(job, of, { isCounted, now });
      return false;
    }
    await noticeBudgets.set(of, after);
    await notices.admit(notice.id);
    return true;
  },
};

interface Counting {
  readonly isCounted: boolean;
  readonly now: number;
}

async function admitDigest(
  { store, emit }: Job,
  notice: NoticeRow,
  { isCounted, now }: Counting,
): Promise<boolean> {
  const of = ofDigest(notice);
  const budget = await store.noticeBudgets.find(of);
  const dueAt = digestDue(budget, isCounted, now);
  if (dueAt > now) {
    await store.notices.deferAll([notice.id], dueAt);
    emit({ kind: 'due', at: dueAt });
    return false;
  }
  await store.noticeBudgets.set(of, afterDigest(budget, isCounted, now));
  await store.notices.admit(notice.id);
  return true;
}

/** Queues a digest of what is held, unless one waits already. */
async function ensureDigest(job: Job, of: BudgetOf, { isCounted, now }: Counting): Promise<void> {
  const { notices, noticeBudgets } = job.store;
  if (await notices.findDigest(of.channelId, of.keyId)) return;
  const dueAt = digestDue(await noticeBudgets.find(of), isCounted, now);
  await notifyDigest(approvalContext(job, now, SERVICE), of, dueAt);
}

function ofDigest({ channel_id: channelId, about }: NoticeRow): BudgetOf {
  return { channelId, keyId: about ?? '' };
}

/** What a digest said, or why it couldn't. */
interface DigestResult {
  readonly ids: readonly string[];
  readonly outcome: 'sent' | 'failed';
  readonly messageId: string | null;
  readonly reason: string | null;
  readonly now: number;
}

/** Ends the notices that a digest was about. Others may have been held since it was made: they get the next one. */
export async function endDigest(job: Job, digest: NoticeRow, told: DigestResult): Promise<void> {
  const { ids, outcome, messageId, reason, now } = told;
  const { channels, notices } = job.store;
  const channel = await channels.find(digest.channel_id);
  await notices.endHeld(ids, {
    status: outcome === 'sent' ? 'digest' : 'failed',
    // A Telegram message is edited when its request ends, but this one is about several.
    messageId: channel?.kind === 'email' ? messageId : null,
    reason,
    nowIso: isoTime(now),
  });
  const of = ofDigest(digest);
  const left = await notices.held(of.channelId, of.keyId);
  if (left.length > 0) await ensureDigest(job, of, { isCounted: true, now });
}

interface Muting extends BudgetOf {
  /** Null ends it. */
  readonly until: number | null;
  readonly now: number;
}

/** A person mutes a key for their own channel, or unmutes it. False if the channel is no longer active. */
export const muteKey: Command<Muting, boolean> = {
  async run(job, { channelId, keyId, until, now }) {
    const { channels, noticeBudgets, notices } = job.store;
    if ((await channels.find(channelId))?.status !== 'active') return false;
    const of = { channelId, keyId };
    await noticeBudgets.set(of, { ...(await noticeBudgets.find(of)), mutedUntil: until });
    const digest = await notices.findDigest(channelId, keyId);
    // When it's due, it works out its own time.
    if (digest) await notices.deferAll([digest.id], until ?? now);
    const context = approvalContext(job, now, actorNamed(channelId));
    await context.record(until === null ? 'key.unmuted' : 'key.muted', keyId, {
      channel_id: channelId,
      until: until === null ? null : isoTime(until),
    });
    // Open pages show it.
    context.emit({ kind: 'notices_due' });
    return true;
  },
};
