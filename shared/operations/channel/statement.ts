import type { ChannelRow } from '../../store/tables/people/channels.ts';
import type { RequestRow } from '../../store/tables/people/requests.ts';

/** What an owner may say about a new channel besides letting it in; the words are the options of the request. */
const OWN = 'My own channel';
const NEW = 'A person with no other channel';
/** The form sends the option as one digit. */
const OPTIONS_MAX = 10;
const SAME = /^The same person as .* \((chn_[a-z0-9]+)\)$/s;

/**
 * The options of the request to let a channel in; what doesn't fit is said on the channel's page later. A mailbox is taken for a person's unless an owner says otherwise, so of
 * a new one they're only asked whether it's that of somebody who had no other channel.
 */
export function personOptions(
  { kind, id }: Pick<ChannelRow, 'kind' | 'id'>,
  channels: readonly ChannelRow[],
): string[] {
  const others = channels.filter(
    (one) =>
      one.id !== id &&
      one.status === 'active' &&
      one.owner === 0 &&
      (kind === 'telegram' || one.person_of === one.id),
  );
  const same = others.map((one) => `The same person as ${one.label} (${one.id})`);
  const options = kind === 'telegram' ? [OWN, NEW, ...same] : [OWN, ...same];
  return options.slice(0, OPTIONS_MAX);
}

/** The channel whose person a new channel belongs to, from what its owner chose; null if the owner didn't say. */
export function personChosen(
  channelId: string,
  { decision, decided_by: by }: Pick<RequestRow, 'decision' | 'decided_by'>,
): string | null {
  if (decision === NEW) return channelId;
  const same = SAME.exec(decision ?? '')?.[1];
  if (same !== undefined) return same;
  if (decision !== OWN || !by?.startsWith('channel:')) return null;
  return by.slice('channel:'.length);
}
