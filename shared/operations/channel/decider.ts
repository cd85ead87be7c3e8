import type { ChannelRow } from '../../store/tables/people/channels.ts';
import type { Repositories } from '../../store/repositories.ts';
import type { RequestKind } from '../../rules/requests/request-state.ts';
import { mayDecide } from '../../rules/roles.ts';

/** The channel, if it may decide such requests now; otherwise null. */
export async function activeDecider(
  { channels, members }: Repositories,
  channelId: string,
  kind: RequestKind,
): Promise<ChannelRow | null> {
  const channel = await channels.find(channelId);
  if (channel?.status !== 'active') return null;
  const role = (await members.findByChannel(channelId))?.role ?? null;
  return mayDecide(role, kind) ? channel : null;
}
