import * as z from 'zod';
import type { WriteContext } from '../../kernel/context.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { queueRow } from '../../kernel/queue-row.ts';
import { isoTime } from '../../lib/clock.ts';
import { decodeTextCursor, encodeCursor } from '../../lib/cursor.ts';
import { notFound } from '../../lib/errors.ts';
import { effective, replay, type EventStatus } from '../../rules/inbox/event-state.ts';
import type { EventRow } from '../../store/tables/inbox/events.ts';
import type { Repositories } from '../../store/repositories.ts';
import {
  eventId,
  isoInstant,
  listCursor,
  listLimit,
  nextCursor,
  sourceFilter,
  typePattern,
} from '../fields.ts';
import { moveEvent } from './move.ts';

const input = z
  .strictObject({
    event_id: eventId.optional().describe('This event alone.'),
    status: z.enum(['dead', 'done']).optional().describe('All events in this state.'),
    source: sourceFilter.optional(),
    type: typePattern.optional(),
    since: isoInstant.optional().describe('Received at or after, ISO 8601.'),
    before: isoInstant.optional().describe('Received before, ISO 8601.'),
    dry_run: z.boolean().default(false).describe('Change nothing; return what would be replayed.'),
    cursor: listCursor,
    limit: listLimit,
  })
  .refine(({ event_id: id, status }) => (id === undefined) !== (status === undefined), {
    path: ['status'],
    error: 'Pass either event_id, or status with filters.',
  })
  .refine(
    ({ event_id: id, source, type, since, before, cursor }) =>
      id === undefined || [source, type, since, before, cursor].every((one) => one === undefined),
    { path: ['event_id'], error: "One event can't be filtered." },
  )
  .refine(({ since, before }) => since === undefined || before === undefined || since < before, {
    path: ['before'],
    error: 'It must be later than since.',
  });

type ReplayInput = z.output<typeof input>;

/** What a call replays and skips of its page. */
interface Plan {
  readonly event_ids: string[];
  readonly skipped: { event_id: string; reason: string }[];
  readonly next_cursor: string | null;
}

export const inboxReplay = defineOperation({
  name: 'inbox_replay',
  summary: 'Put dead or done events back in the queue.',
  description:
    'Replays one event, or a page of those that match, oldest first: they are pending again with no failed attempts and no result. Skips events whose payload was deleted, events that a route delivers, and finished notices of decisions. An approval that was spent stays spent. While next_cursor is not null, call again with it: no event is replayed twice, nor one that ended after the first call.',
  scope: 'inbox:write',
  input,
  output: z.object({
    event_ids: z.array(z.string()).describe('Events that are pending again.'),
    skipped: z
      .array(
        z.object({
          event_id: z.string().describe('`evt_…`.'),
          reason: z.string().describe('Why it was skipped.'),
        }),
      )
      .describe('Events left alone.'),
    next_cursor: nextCursor,
  }),
  errors: ['NOT_FOUND'],
  effect: 'write',
  replica: 'upstream',
  rest: { method: 'POST', path: '/v1/inbox/replay' },
  mcp: false,
  cli: {
    usage: 'inbox replay [event_id]',
    examples: [
      'inbox replay evt_01j9z3k4m5n6p7q8r9s0t1v2w3',
      'inbox replay --status dead --source github --dry-run',
      "inbox replay --status done --type 'invoice.*' --since 2026-11-20T00:00:00Z",
    ],
  },
  subject: ({ event_id }) => event_id,
  example: { status: 'dead', limit: 5 },
}).write({
  // Null for a dry run, which leaves no entry in the ledger.
  commit: async (context, wanted) => (wanted.dry_run ? null : replayAll(context, wanted)),
  answer: async ({ store, now }, wanted, replayed) =>
    replayed ?? (wanted.dry_run ? planOf(store, wanted, now) : NOTHING),
});

const NOTHING: Plan = { event_ids: [], skipped: [], next_cursor: null };

async function replayAll(context: WriteContext, wanted: ReplayInput): Promise<Plan | null> {
  const { store, now, caller, record, emit } = context;
  const plan = await planOf(store, wanted, now);
  for (const id of plan.event_ids) {
    const { row } = await moveEvent(context, id, (queued) => replay(effective(queued, now)));
    await store.events.setRemark(row.seq, 'result', null);
    await store.events.setRemark(row.seq, 'reason', null);
    // One entry for the call can't name several events.
    if (wanted.event_id === undefined) {
      await record('event.replayed', id, { key_id: caller.keyId });
    }
    emit({ kind: 'event_ready', source: row.source, type: row.type });
  }
  const isNothing = plan.event_ids.length === 0 && plan.next_cursor === null;
  return isNothing && plan.skipped.length === 0 ? null : plan;
}

async function planOf(store: Repositories, wanted: ReplayInput, now: number): Promise<Plan> {
  const { rows, begun, next_cursor } = await pageOf(store, wanted, now);
  const judged = rows.map((row) => ({ event_id: row.id, reason: whyNot(row, begun, now) }));
  return {
    event_ids: judged.flatMap(({ event_id: id, reason }) => (reason === null ? [id] : [])),
    skipped: judged.flatMap(({ event_id, reason }) =>
      reason === null ? [] : [{ event_id, reason }],
    ),
    next_cursor,
  };
}

/** How far a replay of several pages has come, and when its first call was made. */
interface Position {
  readonly seq: number;
  readonly begun: number;
}

async function pageOf(
  store: Repositories,
  { event_id: id, status, before, cursor, limit, source, type, since }: ReplayInput,
  now: number,
): Promise<{ rows: readonly EventRow[]; begun: number; next_cursor: string | null }> {
  if (id !== undefined) {
    const row = await store.events.findWhole(id, now);
    if (!row) throw notFound(`event ${id}`);
    return { rows: [row], begun: now, next_cursor: null };
  }
  const filter = { status: status ?? 'dead', source, type, since };
  const { seq, begun } = positionOf(cursor, now);
  const found = await store.events.page({ ...filter, afterSeq: seq, limit: limit + 1, now });
  const page = found.slice(0, limit);
  const rows = page.filter((row) => before === undefined || row.received_at < before);
  const last = page.at(-1);
  // Events stand in the order of their times: none after the first that is too new can match.
  const isMore = found.length > limit && rows.length === page.length;
  return { rows, begun, next_cursor: isMore && last ? encodeCursor(`${last.seq}.${begun}`) : null };
}

const POSITION = /^\d{1,15}\.\d{1,15}$/;

function positionOf(cursor: string | undefined, now: number): Position {
  const text = decodeTextCursor(cursor, (one) => (POSITION.test(one) ? null : 'unknown'));
  const [seq = 0, begun = now] = text === '' ? [] : text.split('.').map(Number);
  return { seq, begun };
}

const REPLAYABLE: ReadonlySet<EventStatus> = new Set(['dead', 'done']);

/** Why an event isn't replayed, or null. */
function whyNot(row: EventRow, begun: number, now: number): string | null {
  const { status } = effective(queueRow(row), now);
  if (!REPLAYABLE.has(status)) return `It is ${status}.`;
  if ((row.finished_at ?? '') > isoTime(begun)) return 'It ended after the replay began.';
  if (row.routed !== 0) return 'A route delivers it.';
  if (row.kind === null) return 'Its payload was deleted.';
  const isNotice = row.trust === 'service' && row.type === 'request.resolved';
  return isNotice && status === 'done' ? 'It only tells of a decision.' : null;
}
