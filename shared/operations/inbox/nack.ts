import * as z from 'zod';
import { isoTime } from '../../lib/clock.ts';
import type { WriteContext } from '../../kernel/context.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { giveBack, nack } from '../../rules/inbox/event-state.ts';
import { eventId, leaseId } from '../fields.ts';
import { asTextWarnings, warningsAsText } from '../json-as-text.ts';
import { LEASE_ERRORS, moveEvent } from './move.ts';
import { keepReason, keepState, parkedEvent, parkEvent, parkState } from './park.ts';
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
  })
  .refine(({ any, until: parked }) => !any || parked !== undefined, {
    path: ['any'],
    error: 'Only with `until`.',
  })
  // A failure keeps no state: an event that's dead has no next run.
  .refine(({ state, until: parked }) => state === undefined || parked !== undefined, {
    path: ['state'],
    error: 'Only with `until`; state_save keeps a state too.',
  })
  .refine(({ retry, until: parked }) => retry || parked === undefined, {
    path: ['retry'],
    error: 'With `until` the event comes back: leave out one of them.',
  });

type NackInput = z.output<typeof input>;

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
    warnings: asTextWarnings,
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
    const { event_id, lease_id, reason, until: conditions, any, state } = given;
    const warnings = warningsAsText({ state });
    if (conditions.length === 1 && conditions[0] === NOW) {
      return { ...(await release(context, given)), ...warnings };
    }
    const call = { eventId: event_id, leaseId: lease_id, until: conditions, wakesOnAny: any };
    const parked = await parkEvent(context, { ...call, reason, state });
    return { event_id, ...parked, retry_at: null, ...warnings };
  },
});

/** A failure, which counts. */
async function fail(context: WriteContext, { event_id, lease_id, reason, retry }: NackInput) {
  const { caller, now } = context;
  const { row, verdict } = await moveEvent(context, event_id, (queued) =>
    nack(queued, { now, keyId: caller.keyId, leaseId: lease_id, retry }),
  );
  await keepReason(context, row, reason);
  const { status, attempts, due_at } = verdict.next;
  return {
    event_id,
    status: status === 'dead' ? ('dead' as const) : ('failed' as const),
    attempts,
    retry_at: due_at === null ? null : isoTime(due_at),
  };
}

/** Back in the queue at once, with what the agent leaves for the next run. */
async function release(context: WriteContext, { event_id, lease_id, reason, state }: NackInput) {
  const { caller, now, emit } = context;
  const { row, verdict } = await moveEvent(context, event_id, (queued) =>
    giveBack(queued, { now, keyId: caller.keyId, leaseId: lease_id }),
  );
  await keepReason(context, row, reason);
  if (state !== undefined) await keepState(context, row, state);
  emit({ kind: 'event_ready', source: row.source, type: row.type });
  const { attempts } = verdict.next;
  return { event_id, status: 'pending' as const, attempts, retry_at: null };
}
