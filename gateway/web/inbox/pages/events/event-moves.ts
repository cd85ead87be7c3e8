import type { Envelope } from '../../../../../shared/kernel/envelope.ts';
import { inboxReplay } from '../../../../../shared/operations/inbox/replay.ts';
import { inboxRequeue } from '../../../../../shared/operations/inbox/requeue.ts';
import { ServiceError } from '../../../../../shared/lib/errors.ts';
import { refuseUnscoped } from '../../../../../shared/kernel/operation.ts';
import type { HandAct, MovedByHand } from '../../../../commit/commands/by-hand.ts';
import type { SeenEvent } from './event-queries.ts';
import type { PageContext } from '../../page-context.ts';

const BULK_ACTS = ['replay', 'requeue', 'discard'] as const;

/** What a person does with one event. */
export type EventAct = 'requeue' | 'replay' | 'release' | 'finish' | 'discard';

/** Whether an event may move so. */
const MOVABLE: Readonly<Record<EventAct, ReadonlySet<Envelope['status']>>> = {
  requeue: new Set(['dead', 'waiting']),
  replay: new Set(['done']),
  release: new Set(['claimed']),
  finish: new Set(['pending', 'failed', 'waiting', 'dead']),
  discard: new Set(['pending', 'failed', 'waiting', 'dead']),
};

/** Whether it can move so. A routed event moves with its deliveries, except that a dead one is requeued. */
export function isMovable({ event, isRouted }: SeenEvent, act: EventAct): boolean {
  return MOVABLE[act].has(event.status) && (!isRouted || act === 'requeue');
}

/** Moves one event; returns why it stayed, or null. EVENT_NOT_CLAIMABLE, EVENT_ROUTED, NOT_FOUND, SCOPE_MISSING. */
export async function moveEvent(
  context: PageContext,
  act: EventAct,
  event_id: string,
): Promise<string | null> {
  if (act === 'requeue') {
    await context.call(inboxRequeue, { event_id });
    return null;
  }
  const { skipped } =
    act === 'replay'
      ? await context.call(inboxReplay, { event_id })
      : await moveByHand(context, act, [event_id]);
  return skipped[0]?.reason ?? null;
}

/** What a person does with several events at once. */
export type BulkAct = (typeof BULK_ACTS)[number];

export function isBulkAct(act: string): act is BulkAct {
  return (BULK_ACTS as readonly string[]).includes(act);
}

/** Events that stayed as they were for the same reason. */
export interface SkippedEvents {
  readonly reason: string;
  /** A few of them. */
  readonly ids: readonly string[];
  readonly count: number;
}

export interface MovedEvents {
  /** How many went. */
  readonly moved: number;
  readonly skipped: readonly SkippedEvents[];
}

const NAMED_MAX = 3;

/** Moves events, each on its own: some may go while others stay. SCOPE_MISSING. */
export async function moveEvents(
  context: PageContext,
  act: BulkAct,
  ids: readonly string[],
): Promise<MovedEvents> {
  if (act === 'discard') return grouped(await moveByHand(context, 'discard', ids));
  // They commit together.
  const reasons = await Promise.all(ids.map((id) => moveOne(context, act, id)));
  return grouped({
    event_ids: ids.filter((_, index) => reasons[index] === null),
    skipped: ids.flatMap((event_id, index) => {
      const reason = reasons[index];
      return typeof reason === 'string' ? [{ event_id, reason }] : [];
    }),
  });
}

/** Null if it went, otherwise why not. */
async function moveOne(
  context: PageContext,
  act: 'replay' | 'requeue',
  event_id: string,
): Promise<string | null> {
  try {
    return await moveEvent(context, act, event_id);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code === 'SCOPE_MISSING') throw error;
    const status = error.details?.['status'];
    return typeof status === 'string' ? `It is ${status}.` : error.message;
  }
}

/** A person ends leases or events, which agents can't do. SCOPE_MISSING. */
async function moveByHand(
  { access, caller, now }: PageContext,
  act: HandAct,
  eventIds: readonly string[],
): Promise<MovedByHand> {
  refuseUnscoped(inboxRequeue, caller);
  return access.project.writes.run('eventsByHand', { act, eventIds, caller, now });
}

function grouped({ event_ids, skipped }: MovedByHand): MovedEvents {
  const groups = new Map<string, string[]>();
  for (const { event_id: id, reason } of skipped) {
    groups.set(reason, [...(groups.get(reason) ?? []), id]);
  }
  const some = [...groups].map(([reason, ids]) => ({
    reason,
    ids: ids.slice(0, NAMED_MAX),
    count: ids.length,
  }));
  return { moved: event_ids.length, skipped: some };
}
