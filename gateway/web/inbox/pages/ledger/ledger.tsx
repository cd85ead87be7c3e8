import type { Child } from 'hono/jsx';
import type { JSX } from 'hono/jsx/jsx-runtime';
import { ServiceError } from '../../../../../shared/lib/errors.ts';
import type { LedgerEntry } from '../../../../../shared/rules/ledger-chain.ts';
import { Fields, type FieldSpec } from '../../../ui/form.tsx';
import { filledIn, type QueryFilter } from '../../../ui/query.ts';
import { exact, line, mono, time } from '../../../ui/text.tsx';
import { actorText, entriesOf, isByHand, namesOf, type EntryProps } from './ledger-queries.ts';
import { Chip, Form, Heading, Nothing, Pager, Problem } from '../../../ui/parts.tsx';
import { NO_REFUSAL, refusalOf, type Refusal } from '../../../ui/refusal.ts';
import type { ActionResult, PageResult, UiPage, PageContext } from '../../page-context.ts';
import { showEntry } from './ledger-entry.tsx';
import { showVerified, verifyOn } from './verify-ledger.tsx';

/** All recorded actions: what, who and when. */
export const ledgerPage: UiPage = {
  path: 'ledger',
  title: 'Ledger',
  group: 'settings',
  setting: { section: 'Records', about: 'What was done, by whom and when.' },
  scope: 'ledger:read',
  topics: ['any'],
  show,
  act: verify,
};

const LIST_LENGTH = 50;
const FILTER_MAX_CHARS = 255;
const DAY_MS = 86_400_000;

const NARROWED = ['op', 'actor', 'agent', 'subject', 'since', 'until'] as const;

type LedgerFilter = QueryFilter<(typeof NARROWED)[number]>;

function show(context: PageContext): Promise<PageResult> {
  const { id } = context;
  if (id === null) return showList(context);
  return id === 'verify' ? Promise.resolve(showVerified(context)) : showEntry(context, id);
}

function verify(context: PageContext): Promise<ActionResult> {
  if (context.id !== null && context.id !== 'verify') throw new ServiceError('NOT_FOUND');
  return verifyOn(context);
}

async function showList(context: PageContext): Promise<PageResult> {
  const narrowed = filledIn(context, NARROWED);
  const { entries, next, refusal } = await list(context, narrowed);
  const names = await namesOf(context);
  const content = (
    <>
      <Heading title="Ledger" lead="What was done, by whom and when. Newest first.">
        <Form context={context} class="ways">
          <button class="btn small">Verify the ledger</button>
        </Form>
      </Heading>
      <Problem text={refusal.text} />
      <section aria-labelledby="list">
        <div class="listhead">
          <h2 id="list">Entries</h2>
          <details class="finer" open={Object.keys(narrowed).length > 0}>
            <summary>Filter</summary>
            <form method="get">
              <Fields fields={filterFields(narrowed)} problems={refusal.fields} />
              <button class="btn small">Apply</button>
            </form>
          </details>
        </div>
        {entries.length === 0 ? (
          <Nothing>No entries match.</Nothing>
        ) : (
          <ul class="rows entries" aria-label="Entries">
            {entries.map((entry) => entryRow({ context, entry, names }))}
          </ul>
        )}
        <Pager context={context} next={next} keep={NARROWED} />
      </section>
    </>
  );
  return { title: 'Ledger', content, status: refusal.status };
}

async function list(
  context: PageContext,
  narrowed: LedgerFilter,
): Promise<{ entries: readonly LedgerEntry[]; next: string | null; refusal: Refusal }> {
  const { since, until, ...rest } = narrowed;
  const cursor = context.query('cursor');
  const input = {
    ...rest,
    ...(since !== undefined && { since: dayText(since, 0) }),
    ...(until !== undefined && { until: dayText(until, DAY_MS) }),
    ...(cursor !== undefined && { cursor: Number(cursor) }),
    limit: LIST_LENGTH,
  };
  try {
    const { items, next_cursor: next } = await entriesOf(context, input);
    return { entries: items, next: next === null ? null : String(next), refusal: NO_REFUSAL };
  } catch (error) {
    // No form sends a cursor, so a problem with no filter field means that the URL is wrong.
    const refusal = refusalOf(error, NARROWED);
    if (Object.keys(refusal.fields).length === 0) throw error;
    return { entries: [], next: null, refusal };
  }
}

/** A UTC day as a time; the operation refuses an invalid day. */
function dayText(day: string, afterMs: number): string {
  const at = /^\d{4}-\d\d-\d\d$/.test(day) ? Date.parse(day) : Number.NaN;
  return Number.isNaN(at) ? day : new Date(at + afterMs).toISOString();
}

function filterFields({
  op,
  actor,
  agent,
  subject,
  since,
  until,
}: LedgerFilter): readonly FieldSpec[] {
  const max = FILTER_MAX_CHARS;
  return [
    { name: 'op', label: 'Operation', value: op, max, placeholder: 'inbox_ack' },
    { name: 'actor', label: 'By', value: actor, max, placeholder: 'chn_…, policy:small' },
    { name: 'agent', label: 'Agent', value: agent, max },
    { name: 'subject', label: 'About', value: subject, max, placeholder: 'evt_…' },
    { kind: 'date', name: 'since', label: 'From (UTC)', value: since, max },
    { kind: 'date', name: 'until', label: 'To (inclusive)', value: until, max },
  ];
}

function entryRow({ context, entry, names }: EntryProps): JSX.Element {
  const { seq, op, subject, outcome, code, at } = entry;
  return (
    <li>
      <a href={context.at('ledger', String(seq))} data-row>
        <span class="seq soft">#{seq.toString()}</span>
        {exact(op, 'what mono')}
        <span class="meta">{whoOf(entry, names)}</span>
        <span class="meta">{subject !== null && mono(subject)}</span>
        <span class="meta">
          {outcome === 'error' && <Chip text={code ?? 'error'} tone="bad" />}
          {time(context, at)}
        </span>
      </a>
    </li>
  );
}

/** Who did it, according to the ledger: the actor is proven, the agent is only claimed. */
function whoOf(entry: LedgerEntry, names: ReadonlyMap<string, string>): Child {
  const { agent } = entry;
  const known = actorText(entry, names);
  if (agent === null || agent === known || isByHand(entry)) return line(known);
  return (
    <>
      {line(agent)} with {line(known)}
    </>
  );
}
