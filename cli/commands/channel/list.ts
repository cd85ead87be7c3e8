import type { Channel } from '../../../clients/typescript/generated/types.ts';
import { showing } from '../../call/operation-command.ts';
import { table } from '../../view/table.ts';

const COLUMNS = ['id', 'kind', 'label', 'address', 'status', 'owner', 'maker'];
const PERSON_BEFORE = COLUMNS.indexOf('owner');

/** `svc channel list`: says whose each channel is, unless every channel is its own mailbox. */
export const run = showing<'channel_list'>(({ items: channels }) => {
  if (channels.every((one) => one.kind === 'email' && one.person_of === null)) return {};
  const rows = channels.map((one) => ({ ...one, person: personText(one, channels) }));
  const columns = COLUMNS.toSpliced(PERSON_BEFORE, 0, 'person');
  return { lines: (look) => table(rows, columns, look) };
});

/** Where several people must approve, the channels of one person count once. */
function personText(channel: Channel, channels: readonly Channel[]): string {
  const { id, kind, person_of: personOf } = channel;
  if (personOf === id) return 'no other channel';
  const other = channels.find((one) => one.id === personOf);
  if (other) return `same as ${other.label}`;
  return kind === 'email' ? 'mailbox' : 'not said';
}
