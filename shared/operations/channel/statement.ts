import type { ChannelRow } from '../../store/channels.ts';
import type { RequestRow } from '../../store/requests.ts';

/** What an owner may say about a new channel besides letting it in; the words are the options of the request. */
const OWN = 'My own channel';
const NEW = 'A person with no other channel';

/** The options of the request to let a channel in. A mailbox is taken for a person's unless an owner says otherwise. */
export function personOptions(kind: ChannelRow['kind']): string[] {
  return kind === 'telegram' ? [OWN, NEW] : [OWN];
}

/** The channel whose person a new channel belongs to, from what its owner chose; null if the owner didn't say. */
export function personChosen(
  channelId: string,
  { decision, decided_by: by }: Pick<RequestRow, 'decision' | 'decided_by'>,
): string | null {
  if (decision === NEW) return channelId;
  if (decision !== OWN || !by?.startsWith('channel:')) return null;
  return by.slice('channel:'.length);
}
