import type { ApprovalContext } from '../../kernel/context.ts';
import { People } from '../channel/people.ts';

type Counting = Pick<ApprovalContext, 'store' | 'project' | 'vault'>;

/** Decides anew which approvals of a request are of different people; returns how many are. */
export async function countVotes(context: Counting, requestId: string): Promise<number> {
  const { votes } = context.store;
  const given = await votes.ofRequest(requestId);
  if (given.length === 0) return 0;
  const people = await People.of(context);
  const counting = people.distinct(given.map(({ channel_id }) => channel_id));
  for (const vote of given) {
    const is = counting.includes(vote.channel_id) ? 1 : 0;
    if (is !== vote.counts) await votes.setCounts(vote, is);
  }
  return counting.length;
}

/** Takes a channel's approval of a request back; false if it gave none. */
export async function withdrawVote(
  context: Counting,
  requestId: string,
  channelId: string,
): Promise<boolean> {
  if (!(await context.store.votes.delete(requestId, channelId))) return false;
  await countVotes(context, requestId);
  return true;
}
