import type { JSX } from 'hono/jsx/jsx-runtime';
import { pluralize } from '../../../../../shared/lib/pluralize.ts';
import { AgentText, Time } from '../../../pages/request-copy.tsx';
import type { SentMail, SentMessage } from '../../mail-queries.ts';
import { Chip, Table, type Column, type Tone } from '../../parts.tsx';
import type { PageContext } from '../../page-context.ts';

type MessageStatus = SentMessage['status'];

const STATUSES: Readonly<Record<MessageStatus, readonly [text: string, tone: Tone]>> = {
  pending: ['Waits for approval', 'warn'],
  queued: ['Queued', 'calm'],
  sent: ['Sent', 'good'],
  failed: ['Failed', 'bad'],
  bounced: ['Bounced', 'bad'],
  cancelled: ['Not sent', 'calm'],
};

/** The states in the order of a mail's way. */
export const SENT_STATES: readonly MessageStatus[] = [
  'pending',
  'queued',
  'sent',
  'bounced',
  'failed',
  'cancelled',
];

export function stateText(status: MessageStatus): string {
  return STATUSES[status][0];
}

/** The worst first: what a person has to know of a mail to many. */
const ORDER: readonly MessageStatus[] = [
  'failed',
  'bounced',
  'pending',
  'queued',
  'cancelled',
  'sent',
];

/** The state of a mail: of a mail to several, the worst one, and for how many. */
export function StatesChip({ mail }: { readonly mail: SentMail }): JSX.Element {
  const { messages } = mail;
  const worst = ORDER.find((status) => messages.some((one) => one.status === status)) ?? 'queued';
  const count = messages.filter(({ status }) => status === worst).length;
  const [text, tone] = STATUSES[worst];
  const share = count === messages.length ? '' : ` (${count} of ${messages.length})`;
  return <Chip text={text + share} tone={tone} />;
}

const NAMED_MAX = 2;

/** The first recipients, and how many more there are. */
export function recipientsText({ messages }: SentMail): string {
  const named = messages.slice(0, NAMED_MAX).map(({ to }) => to);
  const more = messages.length - named.length;
  return named.join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** What became of the mail to each recipient. */
export function States({
  context,
  mail,
}: {
  readonly context: PageContext;
  readonly mail: SentMail;
}): JSX.Element {
  const columns: readonly Column<SentMessage>[] = [
    {
      title: 'To',
      cell: ({ to, copy }) => (
        <span>
          {copy !== undefined && <span class="soft">{copy === 'cc' ? 'Cc ' : 'Bcc '}</span>}
          <AgentText text={to} reading="exact" class="mono" />
        </span>
      ),
    },
    {
      title: 'State',
      cell: ({ status }) => (
        <span>
          <Chip {...chipOf(status)} />
        </span>
      ),
    },
    {
      title: 'What happened',
      cell: (message) => <WhatHappened context={context} message={message} />,
    },
  ];
  return <Table caption="What became of each message" columns={columns} items={mail.messages} />;
}

function chipOf(status: MessageStatus): { readonly text: string; readonly tone: Tone } {
  const [text, tone] = STATUSES[status];
  return { text, tone };
}

function WhatHappened({
  context: { now },
  message,
}: {
  readonly context: PageContext;
  readonly message: SentMessage;
}): JSX.Element {
  const { status, sent_at: sentAt, due_at: dueAt, attempts, error } = message;
  return (
    <span>
      {sentAt !== null && (
        <>
          sent <Time at={Date.parse(sentAt)} now={now} />
        </>
      )}
      {status === 'queued' && dueAt !== null && attempts > 0 && (
        <>
          {pluralize(attempts, 'attempt')}, the next one <Time at={dueAt} now={now} />
        </>
      )}
      {error !== undefined && (
        <>
          {' '}
          <AgentText text={`${error.code}: ${error.message}`} reading="line" />
        </>
      )}
    </span>
  );
}
