import type { JSX } from 'hono/jsx/jsx-runtime';
import { isNotification, type OutboxMessage } from '../../../../../shared/host/outbox.ts';
import { AgentText } from '../../../pages/request-copy.tsx';
import { Age } from '../../event-copy.tsx';
import { hasOutbox, keptMail } from '../../outbox-queries.ts';
import { Chip, Heading, Nothing, Row, Rows } from '../../parts.tsx';
import type { PageContext, PageResult, UiPage } from '../../page-context.ts';
import { showMessage } from './message.tsx';

/** The mail that one machine keeps, because it has no mail server. */
export const outboxPage: UiPage = {
  path: 'outbox',
  title: 'Outbox',
  group: 'mail',
  scope: 'admin',
  topics: ['any'],
  isThere: hasOutbox,
  show: (context) => (context.id === null ? showList(context) : showMessage(context, context.id)),
};

async function showList(context: PageContext): Promise<PageResult> {
  const asked = Number(context.query('skip') ?? 0);
  const skip = Number.isSafeInteger(asked) && asked > 0 ? asked : 0;
  const { messages, next } = await keptMail(context, skip);
  const content = (
    <>
      <Heading
        title="Outbox"
        lead="This machine has no mail server, so it keeps this project’s mail instead of sending it."
      />
      {messages.length === 0 ? (
        <Nothing>No mail kept. Questions to people and agents’ mail appear here.</Nothing>
      ) : (
        <Rows label="Kept mail">
          {messages.map((message) => (
            <MessageRow context={context} message={message} />
          ))}
        </Rows>
      )}
      {(skip > 0 || next !== null) && (
        <nav class="pager" aria-label="More pages">
          {skip > 0 && <a href="?">Newest</a>}
          {next !== null && <a href={`?skip=${next}`}>Older</a>}
        </nav>
      )}
      <p class="soft">
        To send mail: <code class="mono">SVC_SMTP_URL=smtp://… svc up</code>
      </p>
    </>
  );
  return { title: 'Outbox', content };
}

const WORDS_CHARS = 160;

function MessageRow({
  context,
  message,
}: {
  readonly context: PageContext;
  readonly message: OutboxMessage;
}): JSX.Element {
  const { id, to, deliveredTo, subject, sentAt, text, attachments } = message;
  const words = text.slice(0, WORDS_CHARS).replaceAll(/\s+/g, ' ').toWellFormed().trim();
  return (
    <Row href={context.at('outbox', id)}>
      <AgentText text={subject || '(no subject)'} reading="line" class="what" />
      <Chip text={isNotification({ id }) ? 'To a person' : 'From an agent'} tone="calm" />
      <span class="meta">
        to <AgentText text={deliveredTo ?? to} reading="line" /> ·{' '}
        <Age at={sentAt} now={context.now} />
        {attachments.length > 0 && ' · has files'}
        {words !== '' && (
          <>
            {' · '}
            <AgentText text={words} reading="line" />
          </>
        )}
      </span>
    </Row>
  );
}
