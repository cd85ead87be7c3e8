import { decodeIdCursor, encodeCursor } from '../../../../../shared/lib/cursor.ts';
import { mayCall } from '../../../../../shared/lib/scopes.ts';
import { isInside, withoutForeignNames } from '../../../../../shared/kernel/disk-limit.ts';
import type { Envelope } from '../../../../../shared/kernel/envelope.ts';
import { inboxList } from '../../../../../shared/operations/inbox/list.ts';
import { toRecord, type RequestRecord } from '../../../../../shared/operations/request/record.ts';
import { STATE_PREFIX } from '../../../../../shared/rules/disk/disk-name.ts';
import type { Repositories } from '../../../../../shared/store/repositories.ts';
import type { RequestFilter } from '../../../../../shared/store/tables/people/request-search.ts';
import type { RequestRow } from '../../../../../shared/store/tables/people/requests.ts';
import { sentByRequest, type SentMail } from '../mail/mail-queries.ts';
import type { PageContext } from '../../page-context.ts';

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
export async function findRequests(
  context: PageContext,
  filter: RequestFilter,
): Promise<FoundRequests> {
  const { access, now } = context;
  const beforeId = decodeIdCursor(context.query('cursor'), /^req_[0-9a-z]{26}$/) || undefined;
  const search = { ...filter, beforeId, limit: LIST_LENGTH + 1, scan: SCAN_MAX, now };
  return access.project.store.read(async (store) => {
    const rows = await store.requestSearch.search(search);
    const shown = rows.slice(0, LIST_LENGTH);
    const isFull = rows.length > LIST_LENGTH;
    const reached = isFull ? null : await store.requestSearch.reached(search);
    const next = isFull ? (shown.at(-1)?.id ?? null) : reached;
    return {
      items: await Promise.all(shown.map((row) => recordFor(context, store, row))),
      nextCursor: next === null ? null : encodeCursor(next),
      isCut: reached !== null,
    };
  });
}

/** A request as the visitor may see it. */
export async function recordFor(
  { caller, now }: PageContext,
  store: Repositories,
  row: RequestRow,
): Promise<RequestRecord> {
  return withoutForeignNames(await toRecord(store, row, now), caller);
}

/** The agents and actions to filter by. */
export function knownOf({ access }: PageContext) {
  return access.project.store.read(async ({ requestSearch }) => ({
    agents: await requestSearch.valuesOf('agent', KNOWN_MAX),
    actions: await requestSearch.valuesOf('action', KNOWN_MAX),
  }));
}

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

/** Events that wait for an answer, the oldest first; empty if the visitor can't see events. */
export async function waitingEvents(context: PageContext): Promise<readonly WaitingEvent[]> {
  const { access } = context;
  if (!mayCall(access.scopes, inboxList.scope)) return [];
  const input = { status: 'waiting', limit: WAITING_MAX, brief: true };
  const { items } = (await context.call(inboxList, input)) as { items: readonly Envelope[] };
  return access.project.store.read(async (store) =>
    Promise.all(
      items.map(async (event) => {
        const asked = await Promise.all(
          (event.waiting_for ?? [])
            .filter(({ id, status }) => id.startsWith('req_') && status === 'pending')
            .map(({ id }) => askedFor(context, store, id)),
        );
        return { event, requests: asked.filter((one) => one !== null) };
      }),
    ),
  );
}

async function askedFor(
  context: PageContext,
  store: Repositories,
  id: string,
): Promise<WaitingEvent['requests'][number] | null> {
  const row = await store.requests.find(id);
  if (!row) return null;
  const { summary, question, approvers } = await recordFor(context, store, row);
  const channels = await Promise.all(approvers.map((one) => store.channels.findEver(one)));
  const to = channels.flatMap((one) => (one ? [one.label] : [])).join(', ');
  return { id, summary: summary || (question ?? ''), to };
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
  record: RequestRecord,
): Promise<Background> {
  const { access } = context;
  const isMail = record.kind === 'email_send';
  return {
    ...(await access.project.store.read((store) => aroundRequest(context, store, record))),
    task: await taskOf(context, record),
    mail: isMail ? await sentByRequest(context, record.request_id) : null,
  };
}

async function aroundRequest(
  context: PageContext,
  store: Repositories,
  { request_id: id, event_id: eventId, spent_by: spentBy }: RequestRecord,
): Promise<Omit<Background, 'task' | 'mail'>> {
  const mayRead = mayCall(context.access.scopes, 'inbox:read');
  const row = await store.requests.find(id);
  const link = row && (await linkOf(store, row));
  const user = spentBy?.startsWith('key_') ? await store.keys.find(spentBy) : undefined;
  return {
    waiting: mayRead ? await waitingFor(store, id) : [],
    others: eventId === null ? [] : await othersAbout(context, store, { id, eventId }),
    parkedState: mayRead ? await parkedStateOf(store, eventId) : null,
    linkEndsAt: link?.expires_at ?? null,
    usedBy: user?.name ?? null,
  };
}

async function parkedStateOf({ events, parks }: Repositories, eventId: string | null) {
  const event = eventId === null ? undefined : await events.find(eventId);
  return event ? ((await parks.find(event.seq))?.state ?? null) : null;
}

async function waitingFor({ parks, events }: Repositories, id: string) {
  const seqs = await parks.waitingFor(id);
  const found = await Promise.all(seqs.slice(0, WAITING_MAX).map((seq) => events.findAt(seq)));
  return found.flatMap((one) => (one ? [{ id: one.id, type: one.type }] : []));
}

async function othersAbout(
  context: PageContext,
  store: Repositories,
  { id, eventId }: { readonly id: string; readonly eventId: string },
): Promise<RequestRecord[]> {
  const rows = await store.requests.ofEvent(eventId, SAME_EVENT_MAX + 1);
  const others = rows.filter((row) => row.id !== id);
  return Promise.all(others.map((row) => recordFor(context, store, row)));
}

/** The public link that a request for one allowed. */
async function linkOf({ fileLinks }: Repositories, { id, kind, subject }: RequestRow) {
  if (kind !== 'file_url') return undefined;
  const { path } = JSON.parse(subject) as { path?: unknown };
  const links = typeof path === 'string' ? await fileLinks.ofPath(path, LINKS_MAX) : [];
  return links.find(({ request_id }) => request_id === id);
}

/** A `state_ref` is any text; most agents name the task whose state they saved. */
async function taskOf({ access }: PageContext, { state_ref: ref }: RequestRecord) {
  if (ref === null || !mayCall(access.scopes, 'disk', 'read')) return null;
  const task = ref.startsWith(STATE_PREFIX) ? ref.slice(STATE_PREFIX.length) : ref;
  if (!isInside(access, 'task', task)) return null;
  const found = await access.project.store.read(({ kv }) => kv.stored(STATE_PREFIX + task));
  return found ? task : null;
}
