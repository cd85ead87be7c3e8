import * as z from 'zod';
import { isoTime, parseIso, spanMs } from '../../lib/clock.ts';
import type { WriteContext } from '../../kernel/context.ts';
import { invalid } from '../../lib/errors.ts';
import { queueRow } from '../../kernel/queue-row.ts';
import { effective } from '../../rules/inbox/event-state.ts';
import {
  CONDITIONS_MAX,
  PARK_MAX_MS,
  PARK_TIME_MAX_MS,
  type Condition,
} from '../../rules/inbox/park.ts';
import { effectiveRequestStatus } from '../../rules/requests/request-state.ts';
import type { EmailMessageRow } from '../../store/tables/mail/emails.ts';
import type { Repositories } from '../../store/repositories.ts';
import { mailStatus } from './mail-ended.ts';

/** Give the event back at once, as no failure. */
export const NOW = 'now';

export const until = z
  .array(z.string().min(1).max(64))
  .min(1)
  .max(CONDITIONS_MAX)
  .optional()
  .describe('Park it until these end: `req_…`, `evt_…`, `msg_…`, `+2h` or a time; or `now`.');

/** What an event is to wait for, as it stands. VALIDATION_FAILED names the first that can't be waited for. */
export async function conditionsOf(
  context: WriteContext,
  eventId: string,
  wanted: readonly string[],
): Promise<Condition[]> {
  const conditions: Condition[] = [];
  for (const [index, text] of wanted.entries()) {
    const found = await conditionOf(context, eventId, text);
    const problem = typeof found === 'string' ? found : repeated(conditions, found);
    if (problem !== null) throw invalid({ path: `until.${index}`, message: problem });
    if (typeof found !== 'string') conditions.push(found);
  }
  return conditions;
}

function repeated(conditions: readonly Condition[], found: Condition): string | null {
  return conditions.some(({ id }) => id === found.id) ? 'Name each condition once.' : null;
}

/** The condition, or why there is none. */
async function conditionOf(
  context: WriteContext,
  eventId: string,
  text: string,
): Promise<Condition | string> {
  if (text.startsWith('req_')) return requestCondition(context, eventId, text);
  if (text.startsWith('evt_')) return eventCondition(context, eventId, text);
  if (text.startsWith('msg_') || text.startsWith('bat_')) return mailCondition(context, text);
  if (text === NOW) return "`now` can't be combined with other conditions.";
  return timeCondition(text, context.now);
}

async function requestCondition(
  { store, now }: WriteContext,
  eventId: string,
  id: string,
): Promise<Condition | string> {
  const row = await store.requests.find(id);
  if (!row) return 'No such request.';
  if (row.event_id !== null && row.event_id !== eventId) {
    return `This request asks about another event, ${row.event_id}.`;
  }
  return {
    id,
    kind: 'request',
    status: effectiveRequestStatus(row, now),
    expires_at: row.expires_at,
  };
}

async function eventCondition(
  { store, now }: WriteContext,
  eventId: string,
  id: string,
): Promise<Condition | string> {
  if (id === eventId) return "An event can't wait for itself.";
  const row = await store.events.find(id);
  if (!row) return 'No such event.';
  const { status } = effective(queueRow(row), now);
  const isOver = status === 'done' || status === 'dead';
  return {
    id,
    kind: 'event',
    status: isOver ? status : 'pending',
    expires_at: now + PARK_MAX_MS,
  };
}

/** A mail ends for an agent when somebody answers it, or when it's clear that nobody will: it bounced or didn't go out. */
async function mailCondition(
  { store, now }: WriteContext,
  id: string,
): Promise<Condition | string> {
  const messages = await messagesOf(store, id);
  if (messages.length === 0) return id.startsWith('msg_') ? 'No such message.' : 'No such batch.';
  const answered = await store.events.answerTo(messages.map((message) => message.id));
  const status = answered === null ? mailStatus(messages) : 'answered';
  return { id, kind: 'mail', status, expires_at: now + PARK_MAX_MS };
}

async function messagesOf(store: Repositories, id: string): Promise<EmailMessageRow[]> {
  if (id.startsWith('bat_')) return store.emails.messagesOf(id);
  const message = await store.emails.find(id);
  return message ? [message] : [];
}

function timeCondition(text: string, now: number): Condition | string {
  const span = text.startsWith('+') ? spanMs(text.slice(1)) : null;
  const at = span === null ? parseIso(text) : now + span;
  if (at === null) {
    return 'Expected `req_…`, `evt_…`, `msg_…`, `bat_…`, a time such as `2026-01-02T03:04:05Z`, `+2h`, or `now`.';
  }
  if (at > now + PARK_TIME_MAX_MS) return 'At most 30 days from now.';
  const status = at <= now ? 'reached' : 'pending';
  return { id: isoTime(at), kind: 'time', status, expires_at: at };
}
