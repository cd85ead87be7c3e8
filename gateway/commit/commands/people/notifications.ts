import { isoTime } from '../../../../shared/lib/clock.ts';
import { endDigest } from './notice-budget.ts';
import { noticePause } from './notice-pause.ts';
import { SERVICE } from '../../../../shared/rules/actor.ts';
import { notifyOver } from '../../../../shared/operations/request/notify.ts';
import { approvalContext } from '../../context/approval-context.ts';
import type { Job, Command } from '../../context/job.ts';
import type { SendResult } from '../../../lib/send-result.ts';

/** The result of sending a notification. */
export type DeliveryResult = SendResult | { readonly outcome: 'void'; readonly reason: string };

interface NotificationOutcome {
  readonly noticeId: string;
  readonly result: DeliveryResult;
  /** The notices that a digest is about. */
  readonly told?: readonly string[];
  readonly now: number;
}

/** Records the results of notifications to people. Many share one transaction. */
export const recordNotifications: Command<readonly NotificationOutcome[], null> = {
  async run(job, outcomes) {
    for (const result of outcomes) await recordNotification(job, result);
    return null;
  },
};

async function recordNotification(
  job: Job,
  { noticeId, result, told = [], now }: NotificationOutcome,
): Promise<void> {
  const { store, emit } = job;
  const notice = await store.notices.find(noticeId);
  if (!notice) return;
  const fail = async (reason: string): Promise<void> => {
    await store.notices.end(noticeId, 'failed', reason);
    if (notice.kind !== 'digest') return;
    await endDigest(job, notice, { ids: told, outcome: 'failed', messageId: null, reason, now });
  };
  if (notice.status !== 'queued') {
    if (result.outcome !== 'sent') return;
    await store.notices.sent(noticeId, result.messageId, isoTime(now));
    // A person decided while the notification was on its way, so remove its buttons.
    if (notice.kind === 'ask') await notifyOver(approvalContext(job, now, SERVICE), notice);
    return;
  }
  switch (result.outcome) {
    case 'sent': {
      const { messageId } = result;
      await store.notices.sent(noticeId, messageId, isoTime(now));
      if (notice.kind !== 'digest') return;
      return endDigest(job, notice, { ids: told, outcome: 'sent', messageId, reason: null, now });
    }
    case 'later': {
      const pauseMs = noticePause(notice.attempts + 1, result.retryAfterSeconds);
      if (pauseMs === null) return fail(result.reason);
      await store.notices.later(noticeId, now + pauseMs, result.reason);
      emit({ kind: 'due', at: now + pauseMs });
      return;
    }
    case 'refused':
      return fail(result.reason);
    case 'void':
      return store.notices.end(noticeId, 'void', result.reason);
  }
}
