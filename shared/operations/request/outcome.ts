import type { ApprovalContext } from '../../kernel/context.ts';
import { IDLE_MS } from '../../rules/requests/outcome.ts';
import type { ChannelNotice } from '../../store/tables/people/notices.ts';
import type { RequestRow } from '../../store/tables/people/requests.ts';
import { notify, notifyOver } from './notify.ts';

/** Looks once, half an hour after the decision, whether an agent works on the event. */
export async function checkTakenUp(context: ApprovalContext, request: RequestRow): Promise<void> {
  const { id: requestId, event_id: eventId, decided_by: by } = request;
  if (eventId === null || !by?.startsWith('channel:')) return;
  for (const notice of await asksSent(context, requestId)) {
    if (notice.channel_kind !== 'telegram') continue;
    const dueAt = context.now + IDLE_MS;
    const { id: about, channel_id: channelId } = notice;
    await notify(context, { kind: 'check', channelId, requestId, dueAt, about });
  }
}

/**
 * Tells the people who were asked about an event what became of it. Telegram messages are edited. Mail goes only to those who
 * said yes, as a reply to the mail that asked, and once for each event however many questions it had.
 */
export async function tellOutcome(context: ApprovalContext, eventId: string): Promise<void> {
  const decided = await context.store.requests.decidedOf(eventId);
  const mailed = new Set<string>();
  for (const request of decided) {
    for (const notice of await context.store.notices.ofRequest(request.id)) {
      if (notice.kind === 'outcome') mailed.add(notice.channel_id);
    }
  }
  // Newest first: the reply goes to the mail that asked last.
  for (const request of decided) {
    const agreed = await whoAgreed(context, request);
    for (const notice of await asksSent(context, request.id)) {
      const { channel_id: channelId, channel_kind: kind } = notice;
      if (kind === 'telegram') await notifyOver(context, notice);
      else if (kind === 'email' && agreed.includes(channelId) && !mailed.has(channelId)) {
        mailed.add(channelId);
        await notify(context, { kind: 'outcome', channelId, requestId: request.id });
      }
    }
  }
}

async function asksSent({ store }: ApprovalContext, requestId: string): Promise<ChannelNotice[]> {
  const notices = await store.notices.ofRequest(requestId);
  return notices.filter(
    ({ kind, status }) => kind === 'ask' && (status === 'sent' || status === 'digest'),
  );
}

const YES: readonly string[] = ['approved', 'modified', 'answered'];

/** The channels whose yes it was. */
async function whoAgreed(
  { store }: ApprovalContext,
  { id, status, approvals, decided_by: by }: RequestRow,
): Promise<string[]> {
  if (!YES.includes(status)) return [];
  if (approvals === 1) return by === null ? [] : [by.replace(/^channel:/, '')];
  return (await store.votes.ofRequest(id)).map(({ channel_id }) => channel_id);
}
