import type { JSX } from 'hono/jsx/jsx-runtime';
import { pluralize } from '../../../../../shared/lib/pluralize.ts';
import type { SentMail, SentMessage } from './mail-queries.ts';
import type { State } from '../../../ui/list.tsx';
import { line, mono, time } from '../../../ui/text.tsx';
import { Chip, Table, type Column } from '../../../ui/parts.tsx';
import type { PageContext } from '../../page-context.ts';

type MessageStatus = SentMessage['status'];

const STATUSES: Readonly<Record<MessageStatus, State>> = {
  pending: ['Waits for approval', 'warn'],
  queued: ['Queued', 'calm'],
  sent: ['Sent', 'good'],
  failed: ['Failed', 'bad'],
  bounced: ['Bounced', 'bad'],
  cancelled: ['Not sent', 'calm'],
};

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
export function stateOf({ messages }: SentMail): State {
  const worst = ORDER.find((status) => messages.some((one) => one.status === status)) ?? 'queued';
  const count = messages.filter(({ status }) => status === worst).length;
  const [text, tone] = STATUSES[worst];
  const share = count === messages.length ? '' : ` (${count} of ${messages.length})`;
  return [text + share, tone];
}

export function StatesChip({ mail }: { readonly mail: SentMail }): JSX.Element {
  const [text, tone] = stateOf(mail);
  return <Chip text={text} tone={tone} />;
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
          {mono(to)}
        </span>
      ),
    },
    {
      title: 'State',
      cell: ({ status }) => {
        const [text, tone] = STATUSES[status];
        return (
          <span>
            <Chip text={text} tone={tone} />
          </span>
        );
      },
    },
    { title: 'What happened', cell: (message) => whatHappened(context, message) },
  ];
  return <Table caption="What became of each message" columns={columns} items={mail.messages} />;
}

function whatHappened(context: PageContext, message: SentMessage): JSX.Element {
  const { status, sent_at: sentAt, due_at: dueAt, attempts, error } = message;
  return (
    <span>
      {sentAt !== null && <>sent {time(context, sentAt)}</>}
      {status === 'queued' && dueAt !== null && attempts > 0 && (
        <>
          {pluralize(attempts, 'attempt')}, the next one {time(context, dueAt)}
        </>
      )}
      {error !== undefined && <> {line(`${error.code}: ${error.message}`)}</>}
    </span>
  );
}
