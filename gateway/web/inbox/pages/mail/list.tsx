import type { Child } from 'hono/jsx';
import type { EmailStatus } from '../../../../../shared/store/tables/mail/emails.ts';
import { digitsOf } from '../../../ui/number.ts';
import { addressText } from '../events/event-copy.tsx';
import { listPage, type ListPage, type ListRow } from '../../../ui/list.tsx';
import { age, line } from '../../../ui/text.tsx';
import {
  countSent,
  kindsFor,
  SENT_STATES,
  sentInState,
  threadsOf,
  type MailKind,
  type SentMail,
  type ThreadLine,
} from './mail-queries.ts';
import { Filters, Pager } from '../../../ui/parts.tsx';
import type { PageContext, PageResult } from '../../page-context.ts';
import { recipientsText, stateOf, stateText } from './states.tsx';

const CHOICES = [
  [null, 'All'],
  ['received', 'Received'],
  ['sent', 'Sent'],
] as const;

/** The threads, the one with the newest mail first; or sent mail in one state. */
export async function showMails(context: PageContext): Promise<PageResult> {
  const kinds = kindsFor(context);
  const asked = kinds.find((kind) => kind === context.query('kind')) ?? null;
  const state = SENT_STATES.find((one) => one === context.query('state')) ?? null;
  const isSent = asked === 'sent';
  const list =
    isSent && state !== null
      ? await sentList(context, state)
      : await threadList(context, asked, kinds);
  return listPage({
    title: 'Mail',
    lead: 'What came in, and what agents sent, by thread.',
    notes: (
      <>
        {kinds.length > 1 && (
          <Filters label="Filter" name="kind" choices={CHOICES} chosen={asked} />
        )}
        {isSent && (await stateFilters(context, state))}
      </>
    ),
    ...list,
  });
}

/** The states of sent mail to choose from, each with its count. */
async function stateFilters(context: PageContext, chosen: EmailStatus | null): Promise<Child> {
  const counts = await context.read(countSent, {});
  const named = SENT_STATES.map((state, index) => {
    const { count = 0, isMore = false } = counts[index] ?? {};
    return [state, `${stateText(state)} ${digitsOf(count)}${isMore ? '+' : ''}`] as const;
  });
  const choices = [[null, 'Any state'] as const, ...named];
  return (
    <Filters label="State" name="state" choices={choices} chosen={chosen} keep={{ kind: 'sent' }} />
  );
}

type List = Pick<ListPage, 'label' | 'rows' | 'empty' | 'after'>;

/** What calls sent: not by thread, because a newer mail may hide one that bounced. */
async function sentList(context: PageContext, state: EmailStatus): Promise<List> {
  const cursor = context.query('cursor');
  const { mails, nextCursor } = await context.read(sentInState, { state, cursor });
  return {
    label: 'Sent mail',
    rows: mails.map((mail) => sentRow(context, mail, context.at('mail', mail.id))),
    empty: context.query('cursor') === undefined ? 'No mail in this state.' : 'No older mail.',
    after: <Pager context={context} next={nextCursor} keep={['kind', 'state']} />,
  };
}

async function threadList(
  context: PageContext,
  asked: MailKind | null,
  kinds: readonly MailKind[],
): Promise<List> {
  const { lines, nextCursor } = await threadsOf(context, asked === null ? kinds : [asked]);
  return {
    label: 'Threads',
    rows: lines.map((thread) => threadRow(context, thread)),
    empty: emptyText(context, asked),
    after: <Pager context={context} next={nextCursor} keep={['kind']} />,
  };
}

function emptyText(context: PageContext, asked: MailKind | null): string {
  if (context.query('cursor') !== undefined) return 'No older mail.';
  if (asked === 'sent') return 'No mail sent yet. Agents send it with email_send.';
  return 'No mail yet. To receive some, add a mail source.';
}

function sentRow(context: PageContext, mail: SentMail, href: string): ListRow {
  return {
    href,
    what: line(mail.subject || '(no subject)'),
    states: [stateOf(mail)],
    meta: [<>to {line(recipientsText(mail))}</>, age(context, mail.at)],
  };
}

function threadRow(context: PageContext, thread: ThreadLine): ListRow {
  const { threadId, at } = thread;
  // A mail of an earlier release has no thread.
  const page = threadId.startsWith('evt_') ? 'events' : 'mail';
  const href = context.at(page, threadId);
  if (thread.kind === 'sent') return sentRow(context, thread.mail, href);
  const { from_name: name, from_address: address, subject, words, verified } = thread.line;
  const from = address === null ? null : line(addressText({ name: name ?? '', address }));
  return {
    href,
    what: line(subject || '(no subject)'),
    states: [['Received', 'calm']],
    meta: [
      <>
        {from === null ? 'a mail' : <>from {from}</>}
        {verified === 0 && ', not verified'}
      </>,
      age(context, at),
      words !== null && line(words.replaceAll(/\s+/g, ' ').trim()),
    ],
  };
}
