import type { JSX } from 'hono/jsx/jsx-runtime';
import { EVENT_STATUSES, type Envelope } from '../../../../../shared/kernel/envelope.ts';
import { inboxRequeue } from '../../../../../shared/operations/inbox/requeue.ts';
import type { EventCounts } from '../../../../../shared/store/tables/inbox/event-history.ts';
import { EVENT_STATES } from '../../../../../shared/store/tables/inbox/event-query.ts';
import { digitsOf } from '../../../ui/number.ts';
import { STATUSES } from './event-copy.tsx';
import {
  countEvents,
  knownValues,
  listEvents,
  type EventListQuery,
  type ListedEvents,
} from './event-list-queries.ts';
import type { SeenEvent } from './event-queries.ts';
import { Fields, knownField, type FieldSpec } from '../../../ui/form.tsx';
import { filledIn } from '../../../ui/query.ts';
import { resourcePage } from '../../../ui/resource.tsx';
import { Filters, Form, Heading, Nothing, Pager } from '../../../ui/parts.tsx';
import type { PageResult, PageContext } from '../../page-context.ts';
import { actOnEvents, BulkBar, bulkResult } from './event-bulk.tsx';
import { eventRow } from './event-row.tsx';
import { eventItem } from './event.tsx';

/** Received events and their progress. */
export const eventsPage = resourcePage<SeenEvent>({
  path: 'events',
  title: 'Events',
  group: 'events',
  scope: 'inbox:read',
  // Claims, and changes that end them, have no topic of their own.
  topics: ['any'],
  all: 'All events',
  list: showList,
  actOnList: actOnEvents,
  ...eventItem,
});

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
const SEARCH_MAX_CHARS = 200;

const NARROWED = ['q', 'source', 'type', 'since'] as const;

type EventListFilter = ReturnType<typeof narrowedBy>;

async function showList(context: PageContext): Promise<PageResult> {
  const status = EVENT_STATUSES.find((one) => one === context.query('status'));
  const narrowed = narrowedBy(context);
  const { q, source, type, since } = narrowed;
  const wanted = { status, q, source, type, maxAgeMs: SINCE.get(since ?? '') };
  const [listed, counts, known] = await Promise.all([
    listEvents(context, wanted),
    context.read(countEvents, { wanted }),
    context.read(knownValues, {}),
  ]);
  const content = (
    <>
      <Heading title="Events" lead="Everything that came in, newest first." />
      {bulkResult(context)}
      <section aria-labelledby="list">
        <h2 id="list" class="unseen">
          Events in this state
        </h2>
        {searchForm({ narrowed, problems: listed.problems, status, known })}
        <Filters
          label="State"
          name="status"
          choices={choicesOf(counts)}
          chosen={status ?? null}
          keep={narrowed}
        />
        {eventList(context, listed, wanted)}
      </section>
    </>
  );
  return { title: 'Events', content };
}

function narrowedBy(context: PageContext) {
  const { q, since, ...exact } = filledIn(context, NARROWED);
  return {
    ...(q !== undefined && { q: q.slice(0, SEARCH_MAX_CHARS) }),
    ...exact,
    ...(since !== undefined && SINCE.has(since) && { since }),
  };
}

type Choices = readonly (readonly [value: Envelope['status'] | null, text: string])[];

function choicesOf(counts: EventCounts | null): Choices {
  const named = EVENT_STATES.map((state) => {
    const [text] = STATUSES[state];
    if (!counts) return [state, text] as const;
    const { count, isMore } = counts[state];
    return [state, `${text} ${digitsOf(count)}${isMore ? '+' : ''}`] as const;
  });
  return [[null, 'All'], ...named];
}

function eventList(
  context: PageContext,
  listed: ListedEvents,
  wanted: EventListQuery,
): JSX.Element {
  const { items, nextCursor, isCut } = listed;
  const mayAct = context.may(inboxRequeue);
  const isFirst = context.query('cursor') === undefined;
  const rows = (
    <ul class="rows picked" aria-label="Events" data-events={isFirst ? 'first' : 'more'}>
      {items.map((item) => eventRow(context, item, mayAct))}
    </ul>
  );
  return (
    <>
      <p class="fresh" role="status" data-fresh />
      {items.length === 0 && <Nothing>{nothingText(listed, wanted)}</Nothing>}
      {items.length > 0 && !mayAct && rows}
      {items.length > 0 && mayAct && (
        <Form context={context} class="bulk">
          {rows}
          <BulkBar />
        </Form>
      )}
      {isCut && <p class="soft">Older events haven’t been searched yet.</p>}
      <Pager
        context={context}
        next={nextCursor}
        keep={['status', ...NARROWED]}
        words={['Newest', isCut ? 'Search older events' : 'Older']}
      />
    </>
  );
}

function nothingText({ warnings, isCut, problems }: ListedEvents, wanted: EventListQuery): string {
  const { status, ...narrowed } = wanted;
  if (warnings.length > 0) return warnings.join(' ');
  if (isCut) return 'No match so far.';
  const isNarrowed = Object.values(narrowed).some((value) => value !== undefined);
  if (isNarrowed || Object.keys(problems).length > 0) return 'No events match.';
  if (status === undefined) return 'No events yet. New ones appear here on their own.';
  return status === 'pending'
    ? 'No events waiting. New ones appear here on their own.'
    : 'Nothing here.';
}

/** The words to search for, and filters by known values; those are open if in use. */
function searchForm({
  narrowed: { q, source, type, since },
  problems,
  status,
  known: { sources, types },
}: {
  readonly narrowed: EventListFilter;
  readonly problems: ListedEvents['problems'];
  readonly status: string | undefined;
  readonly known: { readonly sources: readonly string[]; readonly types: readonly string[] };
}): JSX.Element {
  const words: FieldSpec = {
    kind: 'search',
    name: 'q',
    label: 'Search',
    value: q,
    max: SEARCH_MAX_CHARS,
    placeholder: 'Id, sender, subject, text',
  };
  const filters: readonly FieldSpec[] = [
    knownField('source', sources, source),
    knownField('type', withGroups(types), type),
    { kind: 'choice', name: 'since', label: 'Received', value: since, choices: SINCE_WORDS },
  ];
  return (
    <form method="get" class="search" role="search">
      {status !== undefined && <input type="hidden" name="status" value={status} />}
      <Fields fields={[words]} problems={problems} />
      <details open={source !== undefined || type !== undefined || since !== undefined}>
        <summary>Filter</summary>
        <div class="ways">
          <Fields fields={filters} problems={problems} />
        </div>
      </details>
      <button class="btn small">Search</button>
    </form>
  );
}

/** Adds `invoice.*` before types that start alike. */
function withGroups(types: readonly string[]): string[] {
  const groups = new Map<string, number>();
  for (const type of types) {
    const dot = type.indexOf('.');
    if (dot > 0) groups.set(type.slice(0, dot), (groups.get(type.slice(0, dot)) ?? 0) + 1);
  }
  const shared = [...groups].filter(([, count]) => count > 1).map(([name]) => `${name}.*`);
  return [...types, ...shared].toSorted();
}
