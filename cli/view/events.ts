import { isObject } from '../../shared/lib/guards.ts';
import { gistLine } from '../../shared/rules/inbox/gist.ts';
import type { View } from './output.ts';
import { table } from './table.ts';
import { plainText } from './terminal-text.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The columns if there are mails: sender and subject. */
const COLUMNS = ['id', 'from', 'about', 'verified', 'received_at'];
/** The columns if there are parked events: what each waits for. */
const WAITING_COLUMNS = ['id', 'waits_for_id', 'parked_at', 'type', 'wakes_at'];

/** The columns for a look around. */
const LINE_COLUMNS = ['id', 'received_at', 'status', 'type', 'about'];

/** A table of events in any state, each with a line of what it's about. */
export function eventLinesView(answer: unknown): View {
  const items: unknown = isObject(answer) ? answer['items'] : null;
  const events = Array.isArray(items) ? items.filter(isObject) : [];
  const rows = events.map((event) => ({ ...event, about: event['gist'] ?? gistLine(event) }));
  return { lines: (look) => table(rows, LINE_COLUMNS, look) };
}

/** A table of events; mails and parked events have their own columns. */
export function eventListView(answer: unknown): View {
  const items: unknown = isObject(answer) ? answer['items'] : null;
  const events = Array.isArray(items) ? items.filter(isObject) : [];
  if (events.some(({ status }) => status === 'waiting')) {
    const waiting = events.map((event) => ({ ...event, waits_for_id: waitsFor(event) }));
    return { lines: (look) => table(waiting, WAITING_COLUMNS, look) };
  }
  if (!events.some(isMail)) return {};
  const rows = events.map((event) => ({ ...event, ...toldOf(event) }));
  return { lines: (look) => table(rows, COLUMNS, look) };
}

function isMail({ channel }: Fields): boolean {
  return channel === 'email';
}

/** `req_…`, and how many other requests are still open. */
function waitsFor({ waiting_for: conditions }: Fields): string {
  const all = (Array.isArray(conditions) ? conditions : []).filter(isObject);
  const open = all.filter(({ status }) => status === 'pending');
  const first = plainText(open[0]?.['id'] ?? '');
  return open.length > 1 ? `${first} +${open.length - 1}` : first;
}

/** A mail's sender and subject; any other event's source and type. */
function toldOf(event: Fields): { readonly from: unknown; readonly about: unknown } {
  const { payload, source, type } = event;
  if (!isMail(event)) return { from: source, about: type };
  if (!isObject(payload)) return { from: null, about: null };
  const { from, subject } = payload;
  return { from: isObject(from) ? from['address'] : null, about: subject };
}
