import * as z from 'zod';
import { decodeIdCursor, encodeCursor } from '../../../../../shared/lib/cursor.ts';
import type { ReadContext } from '../../../../../shared/kernel/context.ts';
import { withoutForeignNames } from '../../../../../shared/kernel/disk-limit.ts';
import type { Envelope } from '../../../../../shared/kernel/envelope.ts';
import { inboxList } from '../../../../../shared/operations/inbox/list.ts';
import { toRecord, type RequestRecord } from '../../../../../shared/operations/request/record.ts';
import { STATE_PREFIX } from '../../../../../shared/rules/disk/disk-name.ts';
import type { Repositories } from '../../../../../shared/store/repositories.ts';
import type { RequestFilter } from '../../../../../shared/store/tables/people/request-search.ts';
import type { RequestRow } from '../../../../../shared/store/tables/people/requests.ts';
import { sentByRequest, type SentMail } from '../mail/mail-queries.ts';
import type { PageContext } from '../../page-context.ts';
import { pageRead } from '../../page-read.ts';

const LIST_LENGTH = 30;
/** How many requests a page of a filtered list looks at. */
const SCAN_MAX = 1000;
const KNOWN_MAX = 50;
const WAITING_MAX = 20;
const SAME_EVENT_MAX = 10;
const LINKS_MAX = 50;

export interface FoundRequests {
  readonly items: readonly RequestRecord[];
  readonly nextCursor: string | null;
  /** Older requests weren't looked at: `nextCursor` goes on. */
  readonly isCut: boolean;
}

/** The requests that a filter leaves, newest first. */
export const findRequests = pageRead(
  'approvals',
  { filter: z.custom<RequestFilter>(), cursor: z.string().optional() },
  async (context, { filter, cursor }): Promise<FoundRequests> => {
    const { requestSearch } = context.store;
    const beforeId = decodeIdCursor(cursor, /^req_[0-9a-z]{26}$/) || undefined;
    const limit = LIST_LENGTH + 1;
    const search = { ...filter, beforeId, limit, scan: SCAN_MAX, now: context.now };
    const rows = await requestSearch.search(search);
    const shown = rows.slice(0, LIST_LENGTH);
    const isFull = rows.length > LIST_LENGTH;
    const reached = isFull ? null : await requestSearch.reached(search);
    const next = isFull ? (shown.at(-1)?.id ?? null) : reached;
    return {
      items: await Promise.all(shown.map((row) => recordFor(context, row))),
      nextCursor: next === null ? null : encodeCursor(next),
      isCut: reached !== null,
    };
  },
);

/** A request as the visitor may see it. */
export async function recordFor(
  { caller, store, now }: ReadContext,
  row: RequestRow,
): Promise<RequestRecord> {
  return withoutForeignNames(await toRecord(store, row, now), caller);
}

/** The agents and actions to filter by. */
export const knownOf = pageRead('approvals', {}, async ({ store: { requestSearch } }) => ({
  agents: await requestSearch.valuesOf('agent', KNOWN_MAX),
  actions: await requestSearch.valuesOf('action', KNOWN_MAX),
}));

/** An event that waits for people, and whom it waits for. */
export interface WaitingEvent {
  readonly event: Envelope;
  /** The open requests it waits for. */
  readonly requests: readonly {
    readonly id: string;
    readonly summary: string;
    readonly to: string;
  }[];
}

/** What requests ask, and whom. */
const askedBy = pageRead(
  'approvals',
  { ids: z.array(z.string()) },
  async (context, { ids }): Promise<WaitingEvent['requests']> => {
    const { requests, channels } = context.store;
    const rows = await Promise.all(ids.map((id) => requests.find(id)));
    return Promise.all(
      rows
        .filter((row) => row !== undefined)
        .map(async (row) => {
          const { summary, question, approvers } = await recordFor(context, row);
          const people = await Promise.all(approvers.map((one) => channels.findEver(one)));
          const to = people.flatMap((one) => (one ? [one.label] : [])).join(', ');
          return { id: row.id, summary: summary || (question ?? ''), to };
        }),
    );
  },
);

/** The open requests that an event waits for. */
function askedFor({ waiting_for: conditions = [] }: Envelope): string[] {
  return conditions
    .filter(({ id, status }) => id.startsWith('req_') && status === 'pending')
    .map(({ id }) => id);
}

/** Events that wait for an answer, the oldest first; empty if the visitor can't see events. */
export async function waitingEvents(context: PageContext): Promise<readonly WaitingEvent[]> {
  if (!context.may(inboxList)) return [];
  const input = { status: 'waiting', limit: WAITING_MAX, brief: true };
  const { items } = await context.call(inboxList, input);
  const asked = await context.read(askedBy, { ids: items.flatMap(askedFor) });
  const byId = new Map(asked.map((one) => [one.id, one]));
  return items.map((event) => ({
    event,
    requests: askedFor(event).flatMap((id) => byId.get(id) ?? []),
  }));
}

/** What led to a request, and what came of it, beyond what its own page says. */
export interface Background {
  /** Events that wait for it. */
  readonly waiting: readonly { readonly id: string; readonly type: string }[];
  /** Other requests about the same event. */
  readonly others: readonly RequestRecord[];
  /** What the agent left for its next run, as JSON. */
  readonly parkedState: string | null;
  /** The task whose state the request names, if it has one that the visitor may see. */
  readonly task: string | null;
  readonly mail: SentMail | null;
  /** When the link ends that a request for one got; null without a link. */
  readonly linkEndsAt: number | null;
  /** The name of the key that used the approval; null where an event did, or nobody. */
  readonly usedBy: string | null;
}

/** `record` is the request as the visitor may see it. */
export async function backgroundOf(
  context: PageContext,
  { request_id: id, event_id: eventId, spent_by: spentBy, state_ref: ref, kind }: RequestRecord,
): Promise<Background> {
  const task = ref?.startsWith(STATE_PREFIX) ? ref.slice(STATE_PREFIX.length) : ref;
  return {
    waiting: [],
    parkedState: null,
    ...(await context.readOrNull(eventsAround, { id, eventId })),
    ...(await context.read(aroundRequest, { id, eventId, spentBy })),
    task: task === null ? null : await context.readOrNull(savedTask, { task }),
    mail: kind === 'email_send' ? await context.readOrNull(sentByRequest, { id }) : null,
  };
}

const AROUND = { id: z.string(), eventId: z.string().nullable() };

const aroundRequest = pageRead(
  'approvals',
  { ...AROUND, spentBy: z.string().nullable() },
  async (context, { id, eventId, spentBy }) => {
    const { requests, keys, fileLinks } = context.store;
    const row = await requests.find(id);
    const link = row && (await linkOf(fileLinks, row));
    const user = spentBy?.startsWith('key_') ? await keys.find(spentBy) : undefined;
    const about = eventId === null ? [] : await requests.ofEvent(eventId, SAME_EVENT_MAX + 1);
    const others = about.filter((one) => one.id !== id);
    return {
      others: await Promise.all(others.map((one) => recordFor(context, one))),
      linkEndsAt: link?.expires_at ?? null,
      usedBy: user?.name ?? null,
    };
  },
);

const eventsAround = pageRead('inbox:read', AROUND, async ({ store }, { id, eventId }) => ({
  waiting: await waitingFor(store, id),
  parkedState: await parkedStateOf(store, eventId),
}));

/** A `state_ref` is any text; most agents name the task whose state they saved. */
const savedTask = pageRead(
  { field: 'task', kind: 'task' },
  { task: z.string() },
  async ({ store }, { task }) => ((await store.kv.stored(STATE_PREFIX + task)) ? task : null),
);

async function parkedStateOf({ events, parks }: Repositories, eventId: string | null) {
  const event = eventId === null ? undefined : await events.find(eventId);
  return event ? ((await parks.find(event.seq))?.state ?? null) : null;
}

async function waitingFor({ parks, events }: Repositories, id: string) {
  const seqs = await parks.waitingFor(id);
  const found = await Promise.all(seqs.slice(0, WAITING_MAX).map((seq) => events.findAt(seq)));
  return found.flatMap((one) => (one ? [{ id: one.id, type: one.type }] : []));
}

/** The public link that a request for one allowed. */
async function linkOf(fileLinks: Repositories['fileLinks'], { id, kind, subject }: RequestRow) {
  if (kind !== 'file_url') return undefined;
  const { path } = JSON.parse(subject) as { path?: unknown };
  const links = typeof path === 'string' ? await fileLinks.ofPath(path, LINKS_MAX) : [];
  return links.find(({ request_id }) => request_id === id);
}
