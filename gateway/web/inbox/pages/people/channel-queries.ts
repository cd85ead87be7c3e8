import type * as z from 'zod';
import { channelList } from '../../../../../shared/operations/channel/list.ts';
import type { channelView } from '../../../../../shared/operations/channel/view.ts';
import { allItems } from '../../../ui/all-items.ts';
import type { Tone } from '../../../ui/parts.tsx';

/** A channel as `channel_list` returns it. */
export type Channel = z.output<typeof channelView>;

export const KIND_WORDS: Readonly<Record<Channel['kind'], string>> = {
  email: 'Email',
  telegram: 'Telegram',
};

interface StateWords {
  readonly text: string;
  readonly tone: Tone;
  /** What the state means, for the reader. */
  readonly line: string;
}

export const CHANNEL_STATES: Readonly<Record<Channel['status'], StateWords>> = {
  added: {
    text: 'Not confirmed',
    tone: 'warn',
    line: 'Waiting for the person to open their link.',
  },
  verified: {
    text: 'Waiting for the owner',
    tone: 'warn',
    line: 'The person has confirmed. The owner still has to let them in.',
  },
  active: { text: 'Active', tone: 'good', line: 'Gets requests and can decide them.' },
  removed: { text: 'Removed', tone: 'calm', line: 'No longer gets requests.' },
};

/** All channels, the owner first; or one. */
export const { all: channelsOf, one: channelOf } = allItems(channelList, ({ id }) => id);
