import type { ApprovalContext } from '../../../../shared/kernel/context.ts';
import type { RequestRow } from '../../../../shared/store/tables/people/requests.ts';
import type { VoteRow } from '../../../../shared/store/tables/people/votes.ts';
import { People } from '../../../../shared/operations/channel/people.ts';
import { voteFacts } from '../../../../shared/operations/request/facts.ts';
import { notifyVoted } from '../../../../shared/operations/request/notify.ts';
import { resolveRequest, type Ending } from '../../../../shared/operations/request/resolve.ts';
import { countVotes, withdrawVote } from '../../../../shared/operations/request/votes.ts';

/** How a request ends by a person's decision; null for an approval after which more people must approve. */
export async function counted(
  context: ApprovalContext,
  request: RequestRow,
  { channelId, how }: { readonly channelId: string; readonly how: Ending },
): Promise<Ending | null> {
  const { store, now, emit } = context;
  const { id, approvals: needed } = request;
  if (needed === 1) return how;
  const people = await People.of(context);
  const given = await store.votes.ofRequest(id);
  const theirs = given.filter(({ channel_id }) => people.isOne(channel_id, channelId));
  if (how.status !== 'approved') {
    // They no longer approve.
    for (const { channel_id } of theirs) await withdrawVote(context, id, channel_id);
    return how;
  }
  let count = await countVotes(context, id);
  // Each person counts once, through whichever channel.
  if (theirs.length === 0) {
    const vote = {
      request_id: id,
      channel_id: channelId,
      at: now,
      comment: how.comment,
      counts: 0,
    };
    await store.votes.insert(vote);
    count = await countVotes(context, id);
    await recordVote(context, request, { vote, given: count });
    if (count < needed) await notifyVoted(context, id);
  }
  if (count >= needed) {
    return { ...how, comment: await commentOf(context, await store.votes.ofRequest(id)) };
  }
  // Open pages show who approved.
  emit({ kind: 'notices_due' });
  return null;
}

/**
 * Counts the approvals of pending requests again after an owner said whose a channel is, and ends those that now have
 * all they need.
 */
export async function recount(context: ApprovalContext): Promise<void> {
  const { store, now, emit } = context;
  for (const request of await store.requests.pending(now)) {
    if (request.approvals === 1 || (await countVotes(context, request.id)) < request.approvals) {
      continue;
    }
    const votes = await store.votes.ofRequest(request.id);
    const last = votes.findLast(({ counts }) => counts === 1);
    await resolveRequest(context, request, {
      status: 'approved',
      decision: null,
      comment: await commentOf(context, votes),
      decidedBy: `channel:${last?.channel_id ?? ''}`,
    });
  }
  // Open pages show who approved.
  emit({ kind: 'notices_due' });
}

async function recordVote(
  { store, record }: ApprovalContext,
  request: RequestRow,
  voted: { readonly vote: VoteRow; readonly given: number },
): Promise<void> {
  const { id: subject, event_id: eventId } = request;
  const event = eventId === null ? undefined : await store.events.find(eventId);
  const about = await voteFacts(store, request, { event, ...voted });
  await record('request.voted', subject, about, { eventId });
}

/** What the people said, each line with its speaker where several did. */
async function commentOf(
  { store }: ApprovalContext,
  votes: readonly VoteRow[],
): Promise<string | null> {
  const said = votes.filter(({ comment }) => comment !== null);
  if (said.length < 2) return said[0]?.comment ?? null;
  const lines = said.map(async ({ channel_id: id, comment }) => {
    const channel = await store.channels.findEver(id);
    return `${channel?.label ?? id}: ${comment ?? ''}`;
  });
  return (await Promise.all(lines)).join('\n');
}
