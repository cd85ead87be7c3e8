import { hash } from 'node:crypto';
import { isoTime } from '../../lib/clock.ts';
import type { ApprovalContext } from '../../kernel/context.ts';
import { newToken } from '../../lib/ids.ts';
import type { NoticeKind } from '../../store/notices.ts';

type Notifying = Pick<ApprovalContext, 'store' | 'project' | 'vault' | 'now' | 'newId' | 'emit'>;

/** Where the token of a link is sealed for. */
export function noticeAad(projectId: string, noticeId: string): string {
  return `notice|${projectId}|${noticeId}|token`;
}

/** Queues a notification to a channel about a request. One that asks gets a link of its own. */
export async function notify(
  context: Notifying,
  notification: {
    readonly kind: Exclude<NoticeKind, 'verify'>;
    readonly channelId: string;
    readonly requestId: string;
  },
): Promise<void> {
  const { store, project, vault, now, newId, emit } = context;
  const { kind, channelId, requestId } = notification;
  const id = newId('ntc');
  const token = kind === 'ask' ? newToken(project.id) : null;
  await store.notices.insert({
    id,
    kind,
    channel_id: channelId,
    request_id: requestId,
    token: token && vault.seal(noticeAad(project.id, id), token),
    token_hash: token && hash('sha256', token),
    status: 'queued',
    attempts: 0,
    due_at: now,
    created_at: isoTime(now),
  });
  emit({ kind: 'notices_due' });
}

/** Takes the buttons off a message that asked. A mail has none: the page behind its link tells how it ended. */
export async function notifyOver(
  context: Notifying,
  channelId: string,
  requestId: string,
): Promise<void> {
  const channel = await context.store.channels.find(channelId);
  if (channel?.kind === 'telegram') await notify(context, { kind: 'over', channelId, requestId });
}

/** Queues the notification that confirms an address, with its link, in the place of one that was not sent yet. */
export async function notifyVerify(
  context: Notifying,
  channelId: string,
  token: string,
): Promise<void> {
  const { store, project, vault, now, newId, emit } = context;
  const id = newId('ntc');
  await store.notices.endVerifying(channelId);
  await store.notices.insert({
    id,
    kind: 'verify',
    channel_id: channelId,
    request_id: null,
    token: vault.seal(noticeAad(project.id, id), token),
    // Its link is found by `channel_token`.
    token_hash: null,
    status: 'queued',
    attempts: 0,
    due_at: now,
    created_at: isoTime(now),
  });
  emit({ kind: 'notices_due' });
}
