import type { JSX } from 'hono/jsx/jsx-runtime';
import { isNotification, type OutboxMessage } from '../../../../../shared/host/outbox.ts';
import { AgentText } from '../../../pages/request-copy.tsx';
import { Age } from '../../event-copy.tsx';
import { Field } from '../../fields.tsx';
import { hasOutbox, keptMails, type KeptKind, type KeptWanted } from '../../outbox-queries.ts';
import { Chip, Filters, Heading, Nothing, Pager, Row, Rows } from '../../parts.tsx';
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

const SEARCH_MAX_CHARS = 200;
const KINDS: readonly KeptKind[] = ['people', 'agents'];
const CHOICES = [
  [null, 'All'],
  ['people', 'To people'],
  ['agents', 'From agents'],
] as const;

async function showList(context: PageContext): Promise<PageResult> {
  const asked = Number(context.query('cursor') ?? 0);
  const skip = Number.isSafeInteger(asked) && asked > 0 ? asked : 0;
  const kind = KINDS.find((one) => one === context.query('kind'));
  const q = context.query('q')?.trim().slice(0, SEARCH_MAX_CHARS) || undefined;
  const { messages, next } = await keptMails(context, { kind, q }, skip);
  const content = (
    <>
      <Heading
        title="Outbox"
        lead="This machine has no mail server, so it keeps this project’s mail instead of sending it."
      />
      <Narrow kind={kind} q={q} />
      {messages.length === 0 ? (
        <Nothing>
          {kind === undefined && q === undefined
            ? 'No mail kept. Questions to people and agents’ mail appear here.'
            : 'No mail matches.'}
        </Nothing>
      ) : (
        <Rows label="Kept mail">
          {messages.map((message) => (
            <MessageRow context={context} message={message} />
          ))}
        </Rows>
      )}
      <Pager context={context} next={next === null ? null : `${next}`} keep={['kind', 'q']} />
      <p class="soft">
        To send mail: <code class="mono">SVC_SMTP_URL=smtp://… svc up</code>
      </p>
    </>
  );
  return { title: 'Outbox', content };
}

/** The words to search for, and which kind of mail to show. */
function Narrow({ kind, q }: KeptWanted): JSX.Element {
  return (
    <>
      <form method="get" class="search" role="search">
        {kind !== undefined && <input type="hidden" name="kind" value={kind} />}
        <Field
          name="q"
          label="Search"
          type="search"
          value={q}
          maxlength={SEARCH_MAX_CHARS}
          placeholder="Address, subject, text"
        />
        <button class="btn small">Search</button>
      </form>
      <Filters
        label="Filter"
        name="kind"
        choices={CHOICES}
        chosen={kind ?? null}
        {...(q !== undefined && { keep: { q } })}
      />
    </>
  );
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
