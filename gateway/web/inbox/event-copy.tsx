import type { JSX } from 'hono/jsx/jsx-runtime';
import type { Envelope } from '../../../shared/kernel/envelope.ts';
import type { MailAddress, MailPayload } from '../../mail/inbound/read-mail.ts';
import { Icon } from '../pages/icons.tsx';
import { lengthOfTime } from '../pages/time.ts';
import { Chip, type Tone } from './parts.tsx';

type EventStatus = Envelope['status'];

const STATUSES: Readonly<Record<EventStatus, readonly [text: string, tone: Tone]>> = {
  pending: ['Pending', 'calm'],
  claimed: ['Claimed', 'warn'],
  failed: ['Failed', 'warn'],
  dead: ['Dead', 'bad'],
  done: ['Done', 'good'],
};

/** What a status means to whoever looks. */
export const STATUS_LINES: Readonly<Record<EventStatus, string>> = {
  pending: 'Waits for an agent to claim it.',
  claimed: 'An agent works on it.',
  failed: 'It was given back, and waits for the next try.',
  dead: 'It was given up. Nobody works on it until it is put back.',
  done: 'An agent has finished it.',
};

export function EventStatusChip({ status }: { readonly status: EventStatus }): JSX.Element {
  const [text, tone] = STATUSES[status];
  return <Chip text={text} tone={tone} />;
}

/** Whether the sender proved to be who it says. Events of the service itself need no proof. */
export function Verified({
  event,
}: {
  readonly event: Pick<Envelope, 'verified' | 'trust'>;
}): JSX.Element {
  if (event.trust === 'service') return <>by the service</>;
  return event.verified ? (
    <span class="mark good">
      <Icon name="yes" /> verified
    </span>
  ) : (
    <span class="mark">not verified</span>
  );
}

/** `4 min ago`, with the time for machines. */
export function Age({ at, now }: { readonly at: string; readonly now: number }): JSX.Element {
  const ms = now - Date.parse(at);
  return <time datetime={at}>{ms < 5000 ? 'just now' : `${lengthOfTime(ms)} ago`}</time>;
}

/** What a mail says, as far as it is at hand; null for what is none. */
export function mailOf({ channel, payload }: Envelope): Partial<MailPayload> | null {
  if (channel !== 'email' || typeof payload !== 'object') return null;
  return payload;
}

/** `Ana <ana@example.com>`. */
export function addressText({ name, address }: MailAddress): string {
  return name === '' ? address : `${name} <${address}>`;
}
