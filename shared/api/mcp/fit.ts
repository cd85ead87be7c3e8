import type { Answer } from '../../kernel/executor.ts';
import type { Operation } from '../../kernel/operation.ts';
import { stringifyExact } from '../../lib/json/exact-json.ts';
import { isObject } from '../../lib/guards.ts';
import { pluralize } from '../../lib/pluralize.ts';
import { fenceAnswer, textBytes } from './untrusted.ts';

type Fields = Record<string, unknown>;

/** An answer as a model reads it, and as a program does. */
export interface ShownAnswer {
  readonly text: string;
  readonly structured: unknown;
  /** Outsiders wrote parts of it. */
  readonly isForeign: boolean;
}

export function shownAnswer({ mcp }: Operation, value: unknown): ShownAnswer {
  const untrusted = mcp !== false && mcp.untrusted;
  const fenced = untrusted && isObject(value) ? fenceAnswer(untrusted, value) : null;
  if (fenced) return { ...fenced, isForeign: true };
  return { text: stringifyExact(value), structured: value, isForeign: false };
}

/** Clients refuse longer texts: Claude Code those of over 25,000 tokens. */
const TEXT_MAX_BYTES = 60_000;
/** Room for the note about what was left out. */
const NOTE_BYTES = 500;
const ROOM_BYTES = TEXT_MAX_BYTES - NOTE_BYTES;

/**
 * Calls a list or a wait so that its text fits into what clients take. Lists of events come without the headers of
 * their transport. Then later payloads are left out, then a page has fewer items; the answer's `note` says so.
 */
export async function fittingAnswer(
  operation: Operation,
  input: Fields,
  call: (input: Fields) => Promise<Answer>,
): Promise<Answer> {
  const { mcp, effect } = operation;
  const isLimited = 'limit' in operation.input.shape;
  const answer = await call(input);
  if (mcp === false || !(isLimited || effect === 'wait')) return answer;
  const fit = (one: Answer) => ({ ...one, value: withFewerPayloads(operation, one.value) });
  let fitted = fit(answer);
  let count = itemsOf(fitted.value)?.length ?? 0;
  let bytes = bytesOf(operation, fitted.value);
  if (bytes <= TEXT_MAX_BYTES || !isLimited) return fitted;
  const found = count;
  while (bytes > ROOM_BYTES && count > 1) {
    const limit = Math.max(1, Math.min(count - 1, Math.floor((count * ROOM_BYTES) / bytes)));
    fitted = fit(await call({ ...input, limit }));
    count = itemsOf(fitted.value)?.length ?? 0;
    bytes = bytesOf(operation, fitted.value);
  }
  const fewer = `Only ${count} of ${found} fit into this answer; next_cursor goes on.`;
  return { ...fitted, value: noted(fitted.value, fewer) };
}

function bytesOf(operation: Operation, value: unknown): number {
  return Buffer.byteLength(shownAnswer(operation, value).text);
}

function itemsOf(value: unknown): Fields[] | null {
  if (!isObject(value) || !Array.isArray(value['items'])) return null;
  return value['items'].filter(isObject);
}

/** An answer with events, without the payloads that it has no room for. */
function withFewerPayloads(operation: Operation, value: unknown): unknown {
  const { mcp } = operation;
  const untrusted = mcp !== false && mcp.untrusted;
  if (!isObject(value)) return value;
  if (untrusted === 'events') {
    const items = (itemsOf(value) ?? []).map(({ headers: _transport, ...event }) => event);
    return cutToSize(operation, items, (shown) => ({ ...value, items: shown }));
  }
  const event = untrusted === 'event' ? value['event'] : null;
  return isObject(event)
    ? cutToSize(operation, [event], ([shown]) => ({ ...value, event: shown }))
    : value;
}

function cutToSize(
  operation: Operation,
  events: readonly Fields[],
  answerWith: (events: readonly Fields[]) => Fields,
): Fields {
  const whole = answerWith(events);
  if (bytesOf(operation, whole) <= TEXT_MAX_BYTES) return whole;
  let room = ROOM_BYTES - bytesOf(operation, answerWith(events.map(withoutPayload)));
  const end = events.findIndex((event) => (room -= longBytes(event)) < 0);
  const kept = end === -1 ? events.length : end;
  const shown = events.map((event, index) => (index < kept ? event : withoutPayload(event)));
  const cut = pluralize(events.length - kept, 'event');
  const note = `The last ${cut} came without payload and attachments, to keep this answer short: read one with inbox_get, or list fewer with limit.`;
  return noted(answerWith(shown), note);
}

/** What an event has without bounds. */
function longBytes({ payload, attachments, attachments_blocked }: Fields): number {
  return textBytes({ payload, attachments, attachments_blocked });
}

function withoutPayload(event: Fields): Fields {
  const { attachments: _files, attachments_blocked: _blocked, payload, ...rest } = event;
  const isCut = rest['payload_truncated'] === true || payload !== null;
  return { ...rest, payload: null, payload_truncated: isCut };
}

function noted(value: unknown, note: string): Fields {
  const { note: before, ...rest } = isObject(value) ? value : {};
  return { ...rest, note: typeof before === 'string' ? `${before} ${note}` : note };
}
