import { resolveRequest, type DecidingContext, type Ending } from '../request/resolve.ts';
import { removeChannel } from './removal.ts';

const WITHDRAWN: Ending = {
  status: 'denied',
  decision: null,
  comment: null,
  decidedBy: null,
  hint: 'withdrawn: the channel was removed before the owner had decided.',
};

/** Takes a channel away. Where the owner is still asked to let it in, that is over too. */
export async function withdrawChannel(context: DecidingContext, channelId: string): Promise<void> {
  const { store, now } = context;
  const asked = (await store.requests.pending(now)).find(
    ({ kind, subject }) => kind === 'channel' && subject === channelId,
  );
  if (asked) await resolveRequest(context, asked, WITHDRAWN);
  // Not left to the request: time may have been quicker than its row says.
  await removeChannel(context, channelId);
}
