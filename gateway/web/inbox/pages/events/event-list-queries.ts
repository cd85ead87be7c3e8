import * as z from 'zod';
import { NO_LINKS } from '../../../../../shared/kernel/links.ts';
import { toEnvelope, type Envelope } from '../../../../../shared/kernel/envelope.ts';
import { isoTime } from '../../../../../shared/lib/clock.ts';
import { decodeSeqCursor, encodeCursor } from '../../../../../shared/lib/cursor.ts';
import {
  PAYLOAD_INLINE_MAX_BYTES,
  PAYLOAD_READ_MAX_BYTES,
} from '../../../../../shared/lib/limits.ts';
import { mayRun } from '../../../../../shared/kernel/operation.ts';
import type { ReadContext } from '../../../../../shared/kernel/context.ts';
import { inboxClaim } from '../../../../../shared/operations/inbox/claim.ts';
import { sourceFilter, typePattern } from '../../../../../shared/operations/fields.ts';
import { sourceWarnings } from '../../../../../shared/operations/source/warnings.ts';
import type { EventStatus } from '../../../../../shared/rules/inbox/event-state.ts';
import { gistPairs } from '../../../../../shared/rules/inbox/gist.ts';
import type { EventCounts } from '../../../../../shared/store/tables/inbox/event-history.ts';
import type { EventRow } from '../../../../../shared/store/tables/inbox/events.ts';
import {
  eventText,
  matchesSearch,
  parseSearch,
  type EventSearch,
} from '../../../../projects/event-text.ts';
import { mailOf } from './event-copy.tsx';
import { seenEvent } from './event-queries.ts';
import type { PageContext } from '../../page-context.ts';
import { pageRead } from '../../page-read.ts';

/** What somebody looks for in the list of events; undefined fields don't filter. */
export interface EventListQuery {
  readonly status?: EventStatus | undefined;
  readonly source?: string | undefined;
  /** Exact, or a prefix that ends in `*`. */
  readonly type?: string | undefined;
  /** Received this recently. */
  readonly maxAgeMs?: number | undefined;
  /** Words to search for. */
  readonly q?: string | undefined;
}

export interface ListedEvent {
  readonly seq: number;
  readonly event: Envelope;
  /** What it is about, in one line. Outsiders wrote it. */
  readonly gist: string;
}

export interface ListedEvents {
  readonly items: readonly ListedEvent[];
  readonly nextCursor: string | null;
  /** The search took too long to look at every event: `nextCursor` goes on. */
  readonly isCut: boolean;
  readonly warnings: readonly string[];
  /** Problems with the filter, by field. */
  readonly problems: Readonly<Record<string, string>>;
}

const WANTED = z.custom<EventListQuery>();
const LIST_LENGTH = 30;
const GIST_MAX_CHARS = 300;
const LAST_SEQ = Number.MAX_SAFE_INTEGER;

/** A page of events, newest first. */
export async function listEvents(
  context: PageContext,
  wanted: EventListQuery,
): Promise<ListedEvents> {
  const problems = problemsOf(wanted);
  const nothing = { items: [], nextCursor: null, isCut: false, warnings: [], problems };
  if (Object.keys(problems).length > 0) return nothing;
  const beforeSeq = decodeSeqCursor(context.query('cursor'), LAST_SEQ);
  if (wanted.q === undefined) {
    return { ...nothing, ...(await context.read(eventPage, { wanted, beforeSeq })) };
  }
  const search = parseSearch(wanted.q);
  if (!search) {
    return { ...nothing, problems: { q: 'Type at least one letter or digit.' } };
  }
  return { ...nothing, ...(await find(context, wanted, { search, beforeSeq })) };
}

function problemsOf({ source, type }: EventListQuery): Record<string, string> {
  const problems: Record<string, string> = {};
  for (const [name, value, schema] of [
    ['source', source, sourceFilter],
    ['type', type, typePattern],
  ] as const) {
    const message = value === undefined ? undefined : schema.safeParse(value).error?.issues[0];
    if (message) problems[name] = message.message;
  }
  return problems;
}

/** Reads larger bodies only for those who may claim events. */
function bodyMaxBytes({ caller }: ReadContext): number {
  return mayRun(inboxClaim, caller) ? PAYLOAD_READ_MAX_BYTES : PAYLOAD_INLINE_MAX_BYTES;
}

const eventPage = pageRead(
  'inbox:read',
  { wanted: WANTED, beforeSeq: z.int() },
  async (context, { wanted: { status, source, type, maxAgeMs }, beforeSeq }) => {
    const { store, now } = context;
    const since = maxAgeMs === undefined ? undefined : isoTime(now - maxAgeMs);
    const filter = { status, source, type, since, beforeSeq, now, limit: LIST_LENGTH + 1 };
    const rows = await store.eventHistory.page({ ...filter, bodyMaxBytes: bodyMaxBytes(context) });
    const items = rows.slice(0, LIST_LENGTH).map((row) => listed(context, row));
    const last = items.at(-1);
    const isMore = rows.length > LIST_LENGTH && last !== undefined;
    return {
      items,
      nextCursor: isMore ? encodeCursor(last.seq) : null,
      warnings: rows.length > 0 ? [] : await sourceWarnings(store, source),
    };
  },
);

const EVENT_ID = /^evt_[0-9a-z]{26}$/;

async function find(
  context: PageContext,
  wanted: EventListQuery,
  { search, beforeSeq }: { readonly search: EventSearch; readonly beforeSeq: number },
): Promise<Pick<ListedEvents, 'items' | 'nextCursor' | 'isCut'>> {
  const id = wanted.q?.trim() ?? '';
  if (EVENT_ID.test(id)) {
    const seen = await context.read(seenEvent, { id });
    const items = seen ? [withGist(seen)].filter((one) => isWanted(one, wanted)) : [];
    return { items, nextCursor: null, isCut: false };
  }
  const { maxAgeMs } = wanted;
  const fromSeq = maxAgeMs === undefined ? 0 : await context.read(firstSeq, { maxAgeMs });
  const check = async (seqs: readonly number[]): Promise<ListedEvent[]> =>
    (await context.read(eventsAt, { seqs: [...seqs] })).filter(
      (one) => isWanted(one, wanted) && matchesSearch(search, eventText(one.event)),
    );
  const { searches } = context.access.project;
  const found = await searches.find({ search, beforeSeq, fromSeq, limit: LIST_LENGTH, check });
  const { items, nextSeq, isCut } = found;
  return { items, nextCursor: nextSeq === null ? null : encodeCursor(nextSeq), isCut };
}

const firstSeq = pageRead('inbox:read', { maxAgeMs: z.number() }, ({ store, now }, { maxAgeMs }) =>
  store.eventHistory.firstSince(isoTime(now - maxAgeMs)),
);

const eventsAt = pageRead('inbox:read', { seqs: z.array(z.int()) }, async (context, { seqs }) => {
  const of = { bodyMaxBytes: bodyMaxBytes(context), now: context.now };
  return (await context.store.eventHistory.at(seqs, of)).map((row) => listed(context, row));
});

function isWanted({ event }: ListedEvent, { status, source, type }: EventListQuery): boolean {
  if (status !== undefined && event.status !== status) return false;
  if (source !== undefined && event.source !== source) return false;
  if (type === undefined) return true;
  return type.endsWith('*') ? event.type.startsWith(type.slice(0, -1)) : event.type === type;
}

function listed({ caller, project, now }: ReadContext, row: EventRow): ListedEvent {
  const payload = mayRun(inboxClaim, caller)
    ? ({ whole: true, ...NO_LINKS } as const)
    : ({ whole: false } as const);
  const event = toEnvelope(row, { project: project.id, now, reader: caller, payload });
  return withGist({ seq: row.seq, event });
}

function withGist({ seq, event }: Pick<ListedEvent, 'seq' | 'event'>): ListedEvent {
  return { seq, event, gist: gistOf(event).slice(0, GIST_MAX_CHARS) };
}

/** What an event is about, in one line. Outsiders wrote it. */
export function gistOf(event: Envelope): string {
  const mail = mailOf(event);
  if (mail) return (mail.text_stripped ?? mail.text ?? '').slice(0, 1000).replaceAll(/\s+/g, ' ');
  const texts = gistPairs(event).map(([, text]) => text);
  return texts.filter((text) => text !== event.type).join(' · ');
}

/** How many events are in each state; null where a filter makes counting dear. */
export const countEvents = pageRead(
  'inbox:read',
  { wanted: WANTED },
  async (
    { store, now },
    { wanted: { source, type, maxAgeMs, q } },
  ): Promise<EventCounts | null> => {
    const isDear =
      q !== undefined || maxAgeMs !== undefined || type?.endsWith('*') || (source && type);
    return isDear ? null : store.eventHistory.counts(now, { source, type });
  },
);

/** The sources and types to choose from. */
export const knownValues = pageRead('inbox:read', {}, ({ store }) => store.eventHistory.known());
