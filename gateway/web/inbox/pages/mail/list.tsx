import type { JSX } from 'hono/jsx/jsx-runtime';
import { AgentText } from '../../../pages/request-copy.tsx';
import { Age, addressText } from '../../event-copy.tsx';
import { kindsFor, threadsOf, type MailKind, type ThreadLine } from '../../mail-queries.ts';
import { Chip, Filters, Heading, Nothing, Pager, Row, Rows } from '../../parts.tsx';
import type { PageContext, PageResult } from '../../page-context.ts';
import { StatesChip, recipientsText } from './states.tsx';

const CHOICES = [
  [null, 'All'],
  ['received', 'Received'],
  ['sent', 'Sent'],
] as const;

/** The threads, the one with the newest mail first. */
export async function showMails(context: PageContext): Promise<PageResult> {
  const kinds = kindsFor(context);
  const asked = kinds.find((kind) => kind === context.query('kind')) ?? null;
  const { lines, nextCursor } = await threadsOf(context, asked === null ? kinds : [asked]);
  const content = (
    <>
      <Heading title="Mail" lead="What came in, and what agents sent, by thread." />
      {kinds.length > 1 && <Filters label="Filter" name="kind" choices={CHOICES} chosen={asked} />}
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
  return { title: 'Mail', content };
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

function ThreadRow({
  context,
  line,
}: {
  readonly context: PageContext;
  readonly line: ThreadLine;
}): JSX.Element {
  if (line.kind === 'sent') {
    const { mail } = line;
    return (
      <Row href={urlOf(context, line)}>
        <AgentText text={mail.subject || '(no subject)'} reading="line" class="what" />
        <StatesChip mail={mail} />
        <span class="meta">
          to <AgentText text={recipientsText(mail)} reading="line" /> ·{' '}
          <Age at={line.at} now={context.now} />
        </span>
      </Row>
    );
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
