import * as z from 'zod';
import { isoTime } from '../../lib/clock.ts';
import type { WriteContext } from '../../kernel/context.ts';
import { NACK_REASON_MAX_BYTES } from '../../lib/limits.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { giveBack, nack } from '../../rules/event-state.ts';
import { cutUtf8 } from '../../lib/text.ts';
import { eventId, leaseId } from '../fields.ts';
import { LEASE_ERRORS, moveEvent } from './move.ts';
import { parkedEvent, parkEvent, parkState } from './park.ts';
import { NOW, until } from './until.ts';

const input = z
  .strictObject({
    event_id: eventId,
    lease_id: leaseId,
    reason: z
      .string()
      .min(1)
      .optional()
      .describe('Why; cut to 1 KB when stored. Required without until.'),
    retry: z.boolean().default(true).describe('False: give up now.'),
    until,
    any: z.boolean().default(false).describe('Wake at the first that ends, not when all have.'),
    state: parkState,
  })
  .refine(({ reason, until: parked }) => reason !== undefined || parked !== undefined, {
    path: ['reason'],
    error: 'Give `reason`, or `until` to park it.',
  });

export const inboxNack = defineOperation({
  name: 'inbox_nack',
  summary: 'Return a claimed event to the queue.',
  description:
    "The event returns to the queue after 30 s, 1, 2, then 4 minutes; the fifth failure makes it dead. With retry false it's dead at once. With until the event waits, which is no failure; the next claim returns the answers as `resumed`.",
  scope: 'inbox:write',
  input,
  output: z.object({
    event_id: z.string().describe('`evt_…`.'),
    ...parkedEvent.partial().shape,
    status: z
      .enum(['failed', 'dead', 'waiting', 'pending'])
      .describe('`failed` events are pending again at `retry_at`; `dead` ones stay.'),
    attempts: z.int().describe('Failures so far; the fifth is the last.'),
    retry_at: z.string().nullable().describe('When it is pending again.'),
  }),
  errors: LEASE_ERRORS,
  effect: 'write',
  exact: ['state'],
  replica: 'upstream',
  rest: { method: 'POST', path: '/v1/inbox/nack' },
  mcp: { title: 'Give an event back' },
  cli: {
    usage: 'inbox nack <event_id>',
    examples: [
      'inbox nack evt_01j9z3k4m5n6p7q8r9s0t1v2w3 --reason "payment provider is down"',
      'inbox nack evt_01j9z3k4m5n6p7q8r9s0t1v2w3 --reason "not for us" --retry false',
      'inbox nack evt_01j9z3k4m5n6p7q8r9s0t1v2w3 --until +2h',
    ],
  },
  subject: ({ event_id }) => event_id,
  example: { event_id: 'evt_01j9z3k4m5n6p7q8r9s0t1v2w3', reason: 'provider is down' },
}).write({
  commit: async (context, given) => {
    if (given.until === undefined) return fail(context, given);
    const { event_id, lease_id, until: conditions, any, state } = given;
    const lease = { eventId: event_id, leaseId: lease_id };
    if (conditions.length === 1 && conditions[0] === NOW) return release(context, lease);
    const call = { ...lease, until: conditions, wakesOnAny: any, state };
    return { event_id, ...(await parkEvent(context, call)), retry_at: null };
  },
});

/** A failure, which counts. */
async function fail(
  context: WriteContext,
  { event_id, lease_id, reason = '', retry }: z.output<typeof input>,
) {
  const { caller, store, now } = context;
  const { row, verdict } = await moveEvent(context, event_id, (queued) =>
    nack(queued, { now, keyId: caller.keyId, leaseId: lease_id, retry }),
  );
  const stored = JSON.stringify(cutUtf8(reason, NACK_REASON_MAX_BYTES));
  await store.events.setRemark(row.seq, 'reason', stored);
  const { status, attempts, due_at } = verdict.next;
  return {
    event_id,
    status: status === 'dead' ? ('dead' as const) : ('failed' as const),
    attempts,
    retry_at: due_at === null ? null : isoTime(due_at),
  };
}

async function release(
  context: WriteContext,
  lease: { readonly eventId: string; readonly leaseId: string | undefined },
) {
  const { caller, now, emit } = context;
  const { eventId: event_id } = lease;
  const { row, verdict } = await moveEvent(context, event_id, (queued) =>
    giveBack(queued, { now, keyId: caller.keyId, leaseId: lease.leaseId }),
  );
  emit({ kind: 'event_ready', source: row.source, type: row.type });
  const { attempts } = verdict.next;
  return { event_id, status: 'pending' as const, attempts, retry_at: null };
}
