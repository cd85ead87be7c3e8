import { actorNamed, type PersonPlace } from '../../../../shared/rules/actor.ts';
import type { RequestKind } from '../../../../shared/rules/requests/request-state.ts';
import { activeDecider } from '../../../../shared/operations/channel/decider.ts';
import { resolveRequest } from '../../../../shared/operations/request/resolve.ts';
import type { ApprovalContext } from '../../../../shared/kernel/context.ts';
import type { ChannelRow } from '../../../../shared/store/tables/people/channels.ts';
import type { RequestRow } from '../../../../shared/store/tables/people/requests.ts';
import { approvalContext } from '../../context/approval-context.ts';
import type { Command, Job } from '../../context/job.ts';

/** The request and the channel behind a link, if that channel may decide it. */
export async function askedBy(
  store: Job['store'],
  tokenHash: string,
): Promise<{ readonly request: RequestRow; readonly channel: ChannelRow } | null> {
  const notice = await store.notices.findByToken(tokenHash);
  const request = notice && (await store.requests.find(notice.request_id ?? ''));
  if (!request) return null;
  const channel = await activeDecider(store, notice.channel_id, request.kind as RequestKind);
  return channel && { request, channel };
}

/** Denies what else the thread asks now; what it asks later is denied when it's asked. */
export async function stopThread(
  context: ApprovalContext,
  { id, key_id: keyId, thread }: RequestRow,
  hint: string,
): Promise<void> {
  const of = { keyId, thread: thread ?? '' };
  const denied = { status: 'denied', decision: null, comment: null, hint } as const;
  for (const other of await context.store.threads.pending(of, context.now)) {
    await resolveRequest(context, other, { ...denied, decidedBy: `policy:stop:${id}` });
  }
}

interface EndOfLasting {
  readonly tokenHash: string;
  readonly place: PersonPlace;
  readonly now: number;
}

/** Ends what an answer holds for other requests. False if the channel may no longer decide this one. */
export const endLasting: Command<EndOfLasting, boolean> = {
  async run(job, { tokenHash, place, now }) {
    const asked = await askedBy(job.store, tokenHash);
    if (!asked) return false;
    const { id, lasts_until: until } = asked.request;
    if (until === null || until <= now) return true;
    await job.store.requests.endLasting(id, now);
    await approvalContext(job, now, actorNamed(asked.channel.id, place)).record(
      'request.lasting_ended',
      id,
    );
    return true;
  },
};
