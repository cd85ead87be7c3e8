import { isoTime } from '../../../../shared/lib/clock.ts';
import { actorNamed, type PersonPlace } from '../../../../shared/rules/actor.ts';
import {
  effectiveRequestStatus,
  endingIn,
  type Choice,
  type RequestKind,
} from '../../../../shared/rules/requests/request-state.ts';
import { lastingResolution } from '../../../../shared/rules/requests/lasting.ts';
import { texts } from '../../../../shared/operations/request/record.ts';
import { resolveRequest } from '../../../../shared/operations/request/resolve.ts';
import { approvalContext } from '../../context/approval-context.ts';
import { askedBy, stopThread } from './lasting.ts';
import type { Command } from '../../context/job.ts';
import { askToApply, proposalWith } from './propose.ts';
import { counted } from './vote.ts';

interface Decision {
  /** Hash of the link's or button's token. The transaction looks it up, because the link may just have been revoked. */
  readonly tokenHash: string;
  readonly choice: Choice;
  readonly place: PersonPlace;
  readonly now: number;
}

export type DecisionOutcome =
  | { readonly outcome: 'taken' | 'counted' | 'late' | 'gone' }
  | { readonly outcome: 'refused'; readonly problem: string };

/**
 * A person decides through a channel that got the request. The first decision wins; where several people must approve,
 * that's the last approval they need, or the first decision of another kind.
 */
export const decide: Command<Decision, DecisionOutcome> = {
  async run(job, { tokenHash, choice, place, now }) {
    const { store } = job;
    const asked = await askedBy(store, tokenHash);
    if (!asked) return { outcome: 'gone' };
    const { request, channel } = asked;
    const kind = request.kind as RequestKind;
    if (effectiveRequestStatus(request, now) !== 'pending') return { outcome: 'late' };
    const shown = { ...request, kind, options: texts(request.options) };
    const resolution = lastingResolution(shown, choice, now);
    if ('problem' in resolution) return { outcome: 'refused', problem: resolution.problem };
    const { id: channelId } = channel;
    const context = approvalContext(job, now, actorNamed(channelId, place));
    const proposal = await proposalWith(context, request, choice);
    if (proposal && 'problem' in proposal) return { outcome: 'refused', problem: proposal.problem };
    await store.channels.touch(channelId, isoTime(now));
    const decided = { ...resolution, decidedBy: `channel:${channelId}` };
    const how = await counted(context, request, { channelId, how: decided });
    if (how === null) return { outcome: 'counted' };
    if (!(await resolveRequest(context, request, how))) return { outcome: 'late' };
    if (proposal) await askToApply(context, request, proposal);
    if (endingIn(how.hint)?.reason === 'stopped')
      await stopThread(context, request, how.hint ?? '');
    return { outcome: 'taken' };
  },
};
