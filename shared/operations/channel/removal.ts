import { isoTime } from '../../lib/clock.ts';
import type { ApprovalContext } from '../../kernel/context.ts';
import type { RequestRow } from '../../store/tables/people/requests.ts';
import { notify, notifyVoted } from '../request/notify.ts';
import { withdrawVote } from '../request/votes.ts';
import { texts } from '../request/record.ts';

/**
 * Removes a channel with its links, buttons and approvals of pending requests, and moves those requests to the owner,
 * all in the current transaction (spec section 3.3). Does nothing if the channel is already gone.
 */
export async function removeChannel(context: ApprovalContext, channelId: string): Promise<void> {
  const { store, now, record, emit } = context;
  const channel = await store.channels.find(channelId);
  if (!channel) return;
  await store.channels.remove(channelId, isoTime(now));
  await store.notices.endOfChannel(channelId);
  await store.browsers.removeAll(channelId);
  if (channel.kind === 'telegram') emit({ kind: 'members_changed' });
  await record('channel.removed', channelId);
  await moveAsks(context, channelId, () => true);
}

/** Moves pending requests that a channel was asked about to the owner, with its approvals of them. */
export async function moveAsks(
  context: ApprovalContext,
  channelId: string,
  concerns: (request: RequestRow) => boolean,
): Promise<void> {
  const { store, now } = context;
  const owner = await store.channels.owner();
  for (const request of (await store.requests.pending(now)).filter(concerns)) {
    const asked = texts(request.approvers);
    if (!asked.includes(channelId)) continue;
    if (await withdrawVote(context, request.id, channelId)) await notifyVoted(context, request.id);
    const left = asked.filter((id) => id !== channelId);
    const isNew = owner !== undefined && !left.includes(owner.id);
    await store.requests.setApprovers(request.id, isNew ? [...left, owner.id] : left);
    if (isNew) await notify(context, { kind: 'ask', channelId: owner.id, requestId: request.id });
  }
}
