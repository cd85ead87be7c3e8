import type { JSX } from 'hono/jsx/jsx-runtime';
import type { EmailStatus } from '../../../../../shared/store/emails.ts';
import { digitsOf } from '../../../pages/number.ts';
import { AgentText } from '../../../pages/request-copy.tsx';
import { Age, addressText } from '../../event-copy.tsx';
import {
  countSent,
  kindsFor,
  sentInState,
  threadsOf,
  type MailKind,
  type SentMail,
  type ThreadLine,
} from '../../mail-queries.ts';
import { Chip, Filters, Heading, Nothing, Pager, Row, Rows } from '../../parts.tsx';
import type { PageContext, PageResult } from '../../page-context.ts';
import { SENT_STATES, StatesChip, recipientsText, stateText } from './states.tsx';

const CHOICES = [
  [null, 'All'],
  ['received', 'Received'],
  ['sent', 'Sent'],
] as const;

/** The threads, the one with the newest mail first; or sent mail in one state. */
export async function showMails(context: PageContext): Promise<PageResult> {
  const kinds = kindsFor(context);
  const asked = kinds.find((kind) => kind === context.query('kind')) ?? null;
  const state = SENT_STATES.find((one) => one === context.query('state'));
  const isSent = asked === 'sent';
  const list =
    isSent && state !== undefined
      ? await sentList(context, state)
      : await threadList(context, asked, kinds);
  const states = isSent ? await statesOf(context) : null;
  const content = (
    <>
      <Heading title="Mail" lead="What came in, and what agents sent, by thread." />
      {kinds.length > 1 && <Filters label="Filter" name="kind" choices={CHOICES} chosen={asked} />}
      {states && (
        <Filters
          label="State"
          name="state"
          choices={states}
          chosen={state ?? null}
          keep={{ kind: 'sent' }}
        />
      )}
      {list}
    </>
  );
  return { title: 'Mail', content };
}

/** The states of sent mail to choose from, each with its count. */
async function statesOf(
  context: PageContext,
): Promise<readonly (readonly [EmailStatus | null, string])[]> {
  const counts = await countSent(context, SENT_STATES);
  const named = SENT_STATES.map((state, index) => {
    const { count = 0, isMore = false } = counts[index] ?? {};
    return [state, `${stateText(state)} ${digitsOf(count)}${isMore ? '+' : ''}`] as const;
  });
  return [[null, 'Any state'], ...named];
}

/** What calls sent: not by thread, because a newer mail may hide one that bounced. */
async function sentList(context: PageContext, state: EmailStatus): Promise<JSX.Element> {
  const { mails, nextCursor } = await sentInState(context, state);
  return (
    <>
      {mails.length === 0 ? (
        <Nothing>
          {context.query('cursor') === undefined ? 'No mail in this state.' : 'No older mail.'}
        </Nothing>
      ) : (
        <Rows label="Sent mail">
          {mails.map((mail) => (
            <SentRow context={context} mail={mail} href={context.at('mail', mail.id)} />
          ))}
        </Rows>
      )}
      <Pager context={context} next={nextCursor} keep={['kind', 'state']} />
    </>
  );
}

async function threadList(
  context: PageContext,
  asked: MailKind | null,
  kinds: readonly MailKind[],
): Promise<JSX.Element> {
  const { lines, nextCursor } = await threadsOf(context, asked === null ? kinds : [asked]);
  return (
    <>
      {lines.length === 0 ? (
        <Nothing>{emptyText(context, asked)}</Nothing>
      ) : (
        <Rows label="Threads">
          {lines.map((line) => (
            <ThreadRow context={context} line={line} />
          ))}
        </Rows>
      )}
      <Pager context={context} next={nextCursor} keep={['kind']} />
    </>
  );
}

function emptyText(context: PageContext, asked: MailKind | null): string {
  if (context.query('cursor') !== undefined) return 'No older mail.';
  if (asked === 'sent') return 'No mail sent yet. Agents send it with email_send.';
  return 'No mail yet. To receive some, add a mail source.';
}

function urlOf(context: PageContext, { threadId }: ThreadLine): string {
  // A mail of an earlier release has no thread.
  return threadId.startsWith('evt_')
    ? context.at('events', threadId)
    : context.at('mail', threadId);
}

function SentRow({
  context,
  mail,
  href,
}: {
  readonly context: PageContext;
  readonly mail: SentMail;
  readonly href: string;
}): JSX.Element {
  return (
    <Row href={href}>
      <AgentText text={mail.subject || '(no subject)'} reading="line" class="what" />
      <StatesChip mail={mail} />
      <span class="meta">
        to <AgentText text={recipientsText(mail)} reading="line" /> ·{' '}
        <Age at={mail.at} now={context.now} />
      </span>
    </Row>
  );
}

function ThreadRow({
  context,
  line,
}: {
  readonly context: PageContext;
  readonly line: ThreadLine;
}): JSX.Element {
  if (line.kind === 'sent') {
    return <SentRow context={context} mail={line.mail} href={urlOf(context, line)} />;
  }
  const { from_name: name, from_address: address, subject, words, verified } = line.line;
  const from = address === null ? null : addressText({ name: name ?? '', address });
  return (
    <Row href={urlOf(context, line)}>
      <AgentText text={subject || '(no subject)'} reading="line" class="what" />
      <Chip text="Received" tone="calm" />
      <span class="meta">
        {from === null ? 'a mail' : 'from '}
        {from !== null && <AgentText text={from} reading="line" />}
        {verified === 0 && ', not verified'} · <Age at={line.at} now={context.now} />
        {words !== null && (
          <>
            {' · '}
            <AgentText text={words.trim()} reading="line" />
          </>
        )}
      </span>
    </Row>
  );
}
