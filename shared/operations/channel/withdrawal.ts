import type { ApprovalContext } from '../../kernel/context.ts';
import { resolveRequest, type Ending } from '../request/resolve.ts';
import { removeChannel } from './removal.ts';

const WITHDRAWN: Ending = {
  status: 'denied',
  decision: null,
  comment: null,
  decidedBy: null,
  hint: 'withdrawn: the channel was removed before the owner had decided.',
};

/** Removes a channel. If the owner hasn't approved it yet, withdraws that request too. */
export async function withdrawChannel(context: ApprovalContext, channelId: string): Promise<void> {
  const { store, now } = context;
  const asked = (await store.requests.pending(now)).find(
    ({ kind, subject }) => kind === 'channel' && subject === channelId,
  );
  if (asked) await resolveRequest(context, asked, WITHDRAWN);
  // Resolving fails if the request has expired but its row doesn't say so yet, so remove the channel here.
  await removeChannel(context, channelId);
}
