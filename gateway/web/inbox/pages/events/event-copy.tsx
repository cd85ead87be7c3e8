import type { JSX } from 'hono/jsx/jsx-runtime';
import type { Envelope } from '../../../../../shared/kernel/envelope.ts';
import type { MailAddress, MailPayload } from '../../../../mail/inbound/read-mail.ts';
import { Icon } from '../../../ui/icons.tsx';
import { lengthOfTime } from '../../../ui/time.ts';
import { Chip, type Tone } from '../../../ui/parts.tsx';

type EventStatus = Envelope['status'];

/** How each status is shown. */
export const STATUSES: Readonly<Record<EventStatus, readonly [text: string, tone: Tone]>> = {
  pending: ['Pending', 'calm'],
  claimed: ['Claimed', 'warn'],
  failed: ['Failed', 'warn'],
  dead: ['Dead', 'bad'],
  done: ['Done', 'good'],
  waiting: ['Waiting', 'warn'],
};

/** What a status means, for the reader. */
export const STATUS_LINES: Readonly<Record<EventStatus, string>> = {
  pending: 'Waiting for an agent to claim it.',
  claimed: 'An agent is working on it.',
  failed: 'An agent gave it back. It’s waiting for the next try.',
  dead: 'It failed for good. No agent gets it until someone requeues it.',
  done: 'An agent finished it.',
  waiting: 'An agent parked it until an answer comes.',
};

const WAITED_FOR = [
  ['req_', 'a person'],
  ['evt_', 'another event'],
  ['msg_', 'an answer by mail'],
  ['bat_', 'an answer by mail'],
] as const;

/** What an event waits for, in a few words. */
export function waitsForText(conditions: NonNullable<Envelope['waiting_for']>): string {
  const open = conditions.filter(({ status }) => status === 'pending');
  const names = open.map(
    ({ id }) => WAITED_FOR.find(([prefix]) => id.startsWith(prefix))?.[1] ?? 'a time',
  );
  return [...new Set(names)].join(' and ');
}

export function EventStatusChip({ status }: { readonly status: EventStatus }): JSX.Element {
  const [text, tone] = STATUSES[status];
  return <Chip text={text} tone={tone} />;
}

/** Whether the sender's identity is verified. Events of the service itself need no verification. */
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

/** Such as `4 min ago`; the whole time on hover. The script leaves it as it is. */
export function Age({ at, now }: { readonly at: string; readonly now: number }): JSX.Element {
  const ms = now - Date.parse(at);
  return (
    <time datetime={at} title={at} data-age>
      {ms < 5000 ? 'just now' : `${lengthOfTime(ms)} ago`}
    </time>
  );
}

/** The mail in an event, as far as we have it; null if the event isn't a mail. */
export function mailOf({ channel, payload }: Envelope): Partial<MailPayload> | null {
  if (channel !== 'email' || typeof payload !== 'object') return null;
  return payload;
}

/** Such as `Ana <ana@example.com>`. */
export function addressText({ name, address }: MailAddress): string {
  return name === '' ? address : `${name} <${address}>`;
}
