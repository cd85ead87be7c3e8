import { isoTime } from '../../lib/clock.ts';
import type { ApprovalContext, WriteContext } from '../../kernel/context.ts';
import { notFound, ServiceError, type ErrorCode } from '../../lib/errors.ts';
import { SERVICE } from '../../rules/actor.ts';
import {
  effective,
  leaseFault,
  type EventQueueRow,
  type EventStateCode,
} from '../../rules/inbox/event-state.ts';
import type { EventRow } from '../../store/tables/inbox/events.ts';
import { queueRow } from '../../kernel/queue-row.ts';
import { eventEnded } from './ended.ts';
import { recordResumed } from './wake.ts';

/** How an operation on a claimed event refuses. */
export const LEASE_ERRORS: readonly ErrorCode[] = [
  'NOT_FOUND',
  'EVENT_NOT_CLAIMABLE',
  'EVENT_ROUTED',
  'LEASE_NOT_HELD',
  'LEASE_EXPIRED',
];

type Verdict<V> = ({ ok: true; next: EventQueueRow } & V) | { ok: false; code: EventStateCode };

/** Loads an event, lets the state machine decide, and writes the decision. A refusal becomes a ServiceError. */
export async function moveEvent<V>(
  context: WriteContext,
  eventId: string,
  decide: (row: EventQueueRow) => Verdict<V>,
): Promise<{ row: EventRow; verdict: { ok: true; next: EventQueueRow } & V }> {
  const { store, now } = context;
  const row = await store.events.find(eventId);
  if (!row) throw notFound(`event ${eventId}`);
  const current = effective(queueRow(row), now);
  const verdict = decide(current);
  if (!verdict.ok) throw refusal(verdict.code, current);
  await recordTime(context, row, current);
  const { status, due_at } = verdict.next;
  if (due_at !== null) context.emit({ kind: 'due', at: due_at });
  const closed = status === 'done' || status === 'dead';
  const finishedAt = closed ? (row.finished_at ?? isoTime(now)) : null;
  await store.events.setQueue(row.seq, verdict.next, finishedAt);
  if (closed && row.status !== status) await eventEnded(context, row, status);
  return { row, verdict };
}

/** What to do next depends on where the event is. */
export function refusal(code: EventStateCode, { status, due_at }: EventQueueRow): ServiceError {
  if (code !== 'EVENT_NOT_CLAIMABLE') return new ServiceError(code);
  const again =
    status === 'failed' && due_at !== null ? ` It comes back at ${isoTime(due_at)}.` : '';
  return new ServiceError(code, {
    hint: `The event is ${status}. ${NEXT[status]}${again}`.trimEnd(),
    details: { status },
  });
}

const NEXT: Readonly<Record<EventQueueRow['status'], string>> = {
  pending: 'Claim it first, with inbox_claim.',
  claimed: 'Another worker has it, until it finishes or its lease expires.',
  waiting: 'It comes back once a person decides, a reply comes or its time is up.',
  failed: '',
  done: 'To work on it again, put it back in the queue with inbox_replay.',
  dead: 'To try it again, put it back in the queue with inbox_requeue.',
};

/** Why the caller doesn't hold the event, or null if it does; `leaseId` tells workers that share a key apart. */
export function holdFault(
  { caller, now }: WriteContext,
  row: EventRow,
  leaseId?: string,
): EventStateCode | null {
  return leaseFault(effective(queueRow(row), now), { now, keyId: caller.keyId, leaseId });
}

/** What time has done is recorded before what follows from it. */
export async function recordTime(
  context: Pick<ApprovalContext, 'store' | 'now' | 'record' | 'emit'>,
  row: EventRow,
  current: EventQueueRow,
): Promise<void> {
  if (row.status === 'claimed' && current.status !== 'claimed') {
    await context.record('lease.expired', row.id, undefined, { by: SERVICE });
  }
  if (row.status === 'waiting' && current.status === 'pending') {
    await recordResumed(context, row, 'time');
  }
}
