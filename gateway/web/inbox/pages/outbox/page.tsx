import type { JSX } from 'hono/jsx/jsx-runtime';
import { isNotification, type OutboxMessage } from '../../../../../shared/host/outbox.ts';
import { Fields, type FieldSpec } from '../../../ui/form.tsx';
import { listPage, type ListRow } from '../../../ui/list.tsx';
import { filledIn } from '../../../ui/query.ts';
import { age, line } from '../../../ui/text.tsx';
import { hasOutbox, keptMails, type KeptKind, type OutboxQuery } from './outbox-queries.ts';
import { Filters, Pager } from '../../../ui/parts.tsx';
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
  const q = filledIn(context, ['q']).q?.slice(0, SEARCH_MAX_CHARS);
  const { messages, next } = await keptMails(context, { kind, q }, skip);
  return listPage({
    title: 'Outbox',
    lead: 'This machine has no mail server, so it keeps this project’s mail instead of sending it.',
    notes: filters({ kind, q }),
    label: 'Kept mail',
    rows: messages.map((message) => rowOf(context, message)),
    empty:
      kind === undefined && q === undefined
        ? 'No mail kept. Questions to people and agents’ mail appear here.'
        : 'No mail matches.',
    after: (
      <>
        <Pager context={context} next={next === null ? null : `${next}`} keep={['kind', 'q']} />
        <p class="soft">
          To send mail: <code class="mono">SVC_SMTP_URL=smtp://… svc up</code>
        </p>
      </>
    ),
  });
}

/** The words to search for, and which kind of mail to show. */
function filters({ kind, q }: OutboxQuery): JSX.Element {
  const words: FieldSpec = {
    kind: 'search',
    name: 'q',
    label: 'Search',
    value: q,
    max: SEARCH_MAX_CHARS,
    placeholder: 'Address, subject, text',
  };
  return (
    <>
      <form method="get" class="search" role="search">
        {kind !== undefined && <input type="hidden" name="kind" value={kind} />}
        <Fields fields={[words]} />
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

function rowOf(context: PageContext, message: OutboxMessage): ListRow {
  const { id, to, deliveredTo, subject, sentAt, text, attachments } = message;
  const words = text.slice(0, WORDS_CHARS).replaceAll(/\s+/g, ' ').toWellFormed().trim();
  return {
    href: context.at('outbox', id),
    what: line(subject || '(no subject)'),
    states: [[isNotification({ id }) ? 'To a person' : 'From an agent', 'calm']],
    meta: [
      <>to {line(deliveredTo ?? to)}</>,
      age(context, sentAt),
      attachments.length > 0 && 'has files',
      words !== '' && line(words),
    ],
  };
}
