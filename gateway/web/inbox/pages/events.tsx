import type { JSX } from 'hono/jsx/jsx-runtime';
import { isoTime } from '../../../../shared/lib/clock.ts';
import { EVENT_STATUSES, type Envelope } from '../../../../shared/kernel/envelope.ts';
import { inboxList } from '../../../../shared/operations/inbox/list.ts';
import { lengthOfTime } from '../../pages/time.ts';
import { AgentText } from '../../pages/request-copy.tsx';
import {
  addressText,
  Age,
  EventStatusChip,
  mailOf,
  Verified,
  waitsForText,
} from '../event-copy.tsx';
import { Choice, Field } from '../fields.tsx';
import { Filters, Heading, Nothing, Pager, Row, Rows } from '../parts.tsx';
import { refusalOf } from '../refusal.ts';
import type { PageResult, UiPage, PageContext } from '../page-context.ts';
import { actOnEvent, showEvent } from './event.tsx';
import { pluralize } from '../../../../shared/lib/pluralize.ts';

/** Received events and their progress. */
export const eventsPage: UiPage = {
  path: 'events',
  title: 'Events',
  group: 'events',
  scope: 'inbox:read',
  // Claims, and changes that end them, have no topic of their own.
  topics: ['any'],
  show: (context) => (context.id === null ? showList(context) : showEvent(context, context.id)),
  act: actOnEvent,
};

interface Listed {
  readonly items: readonly Envelope[];
  readonly next_cursor: string | null;
  readonly warnings?: readonly string[];
  /** Problems with the filter, by field. */
  readonly problems?: Readonly<Record<string, string>>;
}

const LIST_LENGTH = 30;
const SOURCE_MAX_CHARS = 63;
const TYPE_MAX_CHARS = 255;

const FILTERS = [
  [null, 'Pending'],
  ['claimed', 'Claimed'],
  ['waiting', 'Waiting'],
  ['failed', 'Failed'],
  ['dead', 'Dead'],
  ['done', 'Done'],
] as const;

const HOUR_MS = 3_600_000;
const SINCE = new Map([
  ['1h', HOUR_MS],
  ['1d', 24 * HOUR_MS],
  ['7d', 7 * 24 * HOUR_MS],
]);
const SINCE_WORDS = [
  ['', 'at any time'],
  ['1h', 'in the last hour'],
  ['1d', 'in the last day'],
  ['7d', 'in the last week'],
] as const;

const NARROWED = ['source', 'type', 'since'] as const;

type Narrowed = Readonly<Partial<Record<(typeof NARROWED)[number], string>>>;

async function showList(context: PageContext): Promise<PageResult> {
  const status = EVENT_STATUSES.find((one) => one === context.query('status')) ?? 'pending';
  const narrowed = narrowedBy(context);
  const listed = await list(context, status, narrowed).catch((error: unknown) => unlisted(error));
  const { items, next_cursor: next, problems = {} } = listed;
  const chosen = status === 'pending' ? null : status;
  const content = (
    <>
      <Heading title="Events" lead="Everything that came in, oldest first." />
      <section aria-labelledby="list">
        <div class="listhead">
          <h2 id="list" class="unseen">
            Events in this state
          </h2>
          <Filters label="State" name="status" choices={FILTERS} chosen={chosen} keep={narrowed} />
          <Narrow narrowed={narrowed} problems={problems} status={chosen} />
        </div>
        {items.length === 0 ? (
          <Nothing>{nothingText(status, narrowed, listed)}</Nothing>
        ) : (
          <Rows label="Events">
            {items.map((event) => (
              <EventRow context={context} event={event} />
            ))}
          </Rows>
        )}
        <Pager
          context={context}
          next={next}
          keep={['status', ...NARROWED]}
          words={['First', 'Next']}
        />
      </section>
    </>
  );
  return { title: 'Events', content };
}

async function list(context: PageContext, status: string, narrowed: Narrowed): Promise<Listed> {
  const { source, type, since } = narrowed;
  const age = SINCE.get(since ?? '');
  const cursor = context.query('cursor');
  return (await context.call(inboxList, {
    status,
    limit: LIST_LENGTH,
    ...(source !== undefined && { source }),
    ...(type !== undefined && { type }),
    ...(age !== undefined && { since: isoTime(context.now - age) }),
    ...(cursor !== undefined && { cursor }),
  })) as Listed;
}

/** An empty list for a refused filter; the form shows why. */
function unlisted(error: unknown): Listed {
  const { fields, text } = refusalOf(error, ['source', 'type']);
  if (text !== null) throw error;
  return { items: [], next_cursor: null, problems: fields };
}

/** An empty field of a submitted form doesn't filter. */
function narrowedBy(context: PageContext): Narrowed {
  const narrowed: Partial<Record<(typeof NARROWED)[number], string>> = {};
  for (const name of NARROWED) {
    const value = context.query(name)?.trim() ?? '';
    if (value !== '' && (name !== 'since' || SINCE.has(value))) narrowed[name] = value;
  }
  return narrowed;
}

function nothingText(status: string, narrowed: Narrowed, { warnings = [] }: Listed): string {
  if (warnings.length > 0) return warnings.join(' ');
  if (Object.keys(narrowed).length > 0) return 'No events match.';
  return status === 'pending'
    ? 'No events waiting. New ones appear here on their own.'
    : 'Nothing here.';
}

/** A filter within a status; open if it is in use. */
function Narrow({
  narrowed,
  problems,
  status,
}: {
  readonly narrowed: Narrowed;
  readonly problems: Readonly<Record<string, string>>;
  readonly status: string | null;
}): JSX.Element {
  const { source, type, since } = narrowed;
  return (
    <details class="finer" open={Object.keys(narrowed).length > 0}>
      <summary>Filter</summary>
      <form method="get">
        {status !== null && <input type="hidden" name="status" value={status} />}
        <Field
          name="source"
          label="Source"
          value={source}
          maxlength={SOURCE_MAX_CHARS}
          problem={problems['source']}
        />
        <Field
          name="type"
          label="Type"
          value={type}
          maxlength={TYPE_MAX_CHARS}
          placeholder="invoice.*"
          problem={problems['type']}
        />
        <Choice name="since" label="Received" value={since} choices={SINCE_WORDS} />
        <button class="btn small">Apply</button>
      </form>
    </details>
  );
}

function EventRow({
  context,
  event,
}: {
  readonly context: PageContext;
  readonly event: Envelope;
}): JSX.Element {
  const { id, source, type, status, attempts, retry_at: retryAt } = event;
  const mail = mailOf(event);
  return (
    <Row href={context.at('events', id)}>
      {mail?.subject ? (
        <AgentText text={mail.subject} reading="line" class="what" />
      ) : (
        <AgentText text={type} reading="exact" class="what mono" />
      )}
      <EventStatusChip status={status} />
      <span class="meta">
        {mail?.from ? (
          <AgentText text={`from ${addressText(mail.from)}`} reading="line" />
        ) : (
          <AgentText text={source} reading="line" />
        )}
        {' · '}
        <Verified event={event} />
        {event.suspected_replay && ' · may be a duplicate'}
        {' · '}
        <Age at={event.received_at} now={context.now} />
        {attempts > 0 && ` · ${pluralize(attempts, 'failed attempt')}`}
        {event.waiting_for && ` · waits for ${waitsForText(event.waiting_for)}`}
        {retryAt !== null && ` · again in ${lengthOfTime(Date.parse(retryAt) - context.now)}`}
      </span>
    </Row>
  );
}
