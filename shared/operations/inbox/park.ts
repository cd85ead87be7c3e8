import * as z from 'zod';
import { isoTime } from '../../lib/clock.ts';
import type { WriteContext } from '../../kernel/context.ts';
import { shownCondition } from '../../kernel/envelope.ts';
import { invalid } from '../../lib/errors.ts';
import { NACK_REASON_MAX_BYTES, PARK_STATE_MAX_BYTES } from '../../lib/limits.ts';
import { cutUtf8 } from '../../lib/text.ts';
import { nack, park } from '../../rules/inbox/event-state.ts';
import { judgePark, PARKS_MAX, wakesAt, type Park } from '../../rules/inbox/park.ts';
import type { EventRow } from '../../store/tables/inbox/events.ts';
import type { ParkRow } from '../../store/tables/inbox/parks.ts';
import { jsonText } from '../fields.ts';
import { withdrawQuestionsOf } from '../request/withdrawal.ts';
import { moveEvent } from './move.ts';
import { ringIn } from './ring.ts';
import { conditionsOf, NOW } from './until.ts';
import { saveResumed } from './wake.ts';

/** What the agent leaves for its next run, as JSON text. */
export const parkState = jsonText(PARK_STATE_MAX_BYTES, '16 KB').describe(
  'JSON for the next claim, up to 16 KB.',
);

/** Where a parked event stands. */
export const parkedEvent = z.object({
  status: z
    .enum(['waiting', 'pending', 'dead'])
    .describe(
      '`pending` if all it waits for has ended already; `dead` if it was parked too often.',
    ),
  attempts: z.int().describe('Failures so far; a park is none.'),
  parks: z.int().describe('How often it was parked.'),
  waiting_for: z
    .array(
      z.object({
        id: z.string().describe('A request, a mail, another event or a time.'),
        status: z.string().describe('How that stands.'),
        expires_at: z.string().describe('When it ends at the latest.'),
      }),
    )
    .describe('What has to end first.'),
  wakes_at: z.string().describe('When it wakes at the latest.'),
});

interface ParkCall {
  readonly eventId: string;
  readonly leaseId: string | undefined;
  readonly until: readonly string[];
  readonly wakesOnAny: boolean;
  readonly reason?: string | undefined;
  /** JSON text. Without it, what an earlier park left stays. */
  readonly state: string | undefined;
}

/**
 * Gives a claimed event back until what it waits for ends; at once where that has ended. Parking is no failure, but the
 * 26th park makes the event dead. VALIDATION_FAILED names the condition that can't be waited for.
 */
export async function parkEvent(
  context: WriteContext,
  call: ParkCall,
): Promise<z.output<typeof parkedEvent>> {
  const { caller, now } = context;
  const { eventId, leaseId, wakesOnAny } = call;
  const conditions = await conditionsOf(context, eventId, call.until);
  const last = await context.store.parks.newestOf(eventId);
  const parks = (last?.parks ?? 0) + 1;
  const isTooMany = parks > PARKS_MAX;
  const verdict = judgePark({ conditions, wakesOnAny }, now);
  if (!verdict.wakes) await refuseRing(context, eventId, { conditions, wakesOnAny });
  const lease = { now, keyId: caller.keyId, leaseId };
  const { row, verdict: moved } = await moveEvent(context, eventId, (queued) =>
    isTooMany ? nack(queued, { ...lease, retry: false }) : park(queued, { ...lease, verdict }),
  );
  const because = verdict.wakes ? verdict.because : null;
  const parked: ParkRow = {
    conditions,
    wakesOnAny,
    parks,
    parkedAt: isoTime(now),
    state: call.state ?? last?.state ?? null,
    because,
  };
  await keepReason(context, row, isTooMany ? TOO_OFTEN : call.reason);
  if (!isTooMany) await keepPark(context, row, parked);
  return {
    status: isTooMany ? 'dead' : because === null ? 'waiting' : 'pending',
    attempts: moved.next.attempts,
    parks,
    waiting_for: conditions.map(shownCondition),
    wakes_at: isoTime(wakesAt(parked)),
  };
}

async function refuseRing(context: WriteContext, eventId: string, wait: Park): Promise<void> {
  const held = await ringIn(context, eventId, wait);
  if (held === null) return;
  throw invalid({
    path: `until.${wait.conditions.indexOf(held)}`,
    message: 'That event waits for this one, itself or through others: none of them would go on.',
  });
}

const TOO_OFTEN = `The event was parked ${PARKS_MAX} times.`;

/** Stores why an agent gave an event back. Without a reason, the one before stays. */
export async function keepReason(
  { store }: WriteContext,
  { seq }: EventRow,
  reason: string | undefined,
): Promise<void> {
  if (reason === undefined) return;
  const stored = JSON.stringify(cutUtf8(reason, NACK_REASON_MAX_BYTES));
  await store.events.setRemark(seq, 'reason', stored);
}

/** Keeps a state for the next claim of an event that is given back at once, beside what its last park brought. */
export async function keepState(
  { store, now }: WriteContext,
  { seq }: EventRow,
  state: string,
): Promise<void> {
  const last = await store.parks.find(seq);
  const none = { conditions: [], wakesOnAny: false, parks: 0, parkedAt: isoTime(now) };
  await store.parks.save(seq, { ...(last ?? none), state, because: last?.because ?? NOW });
}

async function keepPark(context: WriteContext, row: EventRow, parked: ParkRow): Promise<void> {
  const { store, record, emit } = context;
  const waitsFor = parked.conditions.map(({ id }) => id);
  await store.parks.save(row.seq, parked);
  await record('event.parked', row.id, { until: waitsFor, state: parked.state });
  if (parked.conditions.some(({ kind }) => kind === 'request')) {
    const reason = 'its event waits for another answer.';
    await withdrawQuestionsOf(context, row.id, { except: waitsFor, reason });
  }
  emit({ kind: 'inbox_changed' });
  if (parked.because === null) return;
  await saveResumed(context, row, parked);
  emit({ kind: 'event_ready', source: row.source, type: row.type });
}
