import type { InboxEvent } from '../call/answers.ts';
import { isObject } from '../../shared/lib/guards.ts';
import { gistLine } from '../../shared/rules/inbox/gist.ts';
import type { View } from './output.ts';
import { table } from './table.ts';

interface EventList {
  readonly items: readonly InboxEvent[];
}

/** The columns if there are mails: sender and subject. */
const COLUMNS = ['id', 'from', 'about', 'verified', 'received_at'];
/** The columns if there are parked events: what each waits for. */
const WAITING_COLUMNS = ['id', 'waits_for_id', 'parked_at', 'type', 'wakes_at'];

/** The columns for a look around. */
const LINE_COLUMNS = ['id', 'received_at', 'status', 'type', 'about'];

/** A table of events in any state, each with a line of what it's about. */
export function eventLinesView({ items: events }: EventList): View {
  if (events.length === 0) return {};
  const rows = events.map((event) => ({ ...event, about: event.gist ?? gistLine(event) }));
  return { lines: (look) => table(rows, LINE_COLUMNS, look) };
}

/** A table of events; mails and parked events have their own columns. */
export function eventListView({ items: events }: EventList): View {
  if (events.some(({ status }) => status === 'waiting')) {
    const waiting = events.map((event) => ({ ...event, waits_for_id: waitsFor(event) }));
    return { lines: (look) => table(waiting, WAITING_COLUMNS, look) };
  }
  if (!events.some(isMail)) return {};
  const rows = events.map((event) => ({ ...event, ...toldOf(event) }));
  return { lines: (look) => table(rows, COLUMNS, look) };
}

function isMail({ channel }: InboxEvent): boolean {
  return channel === 'email';
}

/** `req_…`, and how many other requests are still open. */
function waitsFor({ waiting_for: conditions = [] }: InboxEvent): string {
  const open = conditions.filter(({ status }) => status === 'pending');
  const first = open[0]?.id ?? '';
  return open.length > 1 ? `${first} +${open.length - 1}` : first;
}

/** A mail's sender and subject; any other event's source and type. */
function toldOf(event: InboxEvent): { readonly from: unknown; readonly about: unknown } {
  const { payload, source, type } = event;
  if (!isMail(event)) return { from: source, about: type };
  if (!isObject(payload)) return { from: null, about: null };
  const { from, subject } = payload;
  return { from: isObject(from) ? from['address'] : null, about: subject };
}
