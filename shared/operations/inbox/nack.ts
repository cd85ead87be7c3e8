import * as z from 'zod';
import { isoTime } from '../../lib/clock.ts';
import { NACK_REASON_MAX_BYTES } from '../../lib/limits.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { nack } from '../../rules/event-state.ts';
import { cutUtf8 } from '../../lib/text.ts';
import { eventId, leaseId } from '../fields.ts';
import { moveEvent } from './move.ts';

export const inboxNack = defineOperation({
  name: 'inbox_nack',
  summary: 'Return a claimed event to the queue.',
  description:
    "The event returns to the queue after 30 s, 1, 2, then 4 minutes; the fifth failure makes it dead. With retry false it's dead at once.",
  scope: 'inbox:write',
  input: z.strictObject({
    event_id: eventId,
    lease_id: leaseId,
    reason: z.string().min(1).describe('Why; cut to 1 KB when stored.'),
    retry: z.boolean().default(true).describe('False: give up now.'),
  }),
  output: z.object({
    event_id: z.string(),
    status: z.enum(['failed', 'dead']),
    attempts: z.int(),
    retry_at: z.string().nullable(),
  }),
  errors: ['NOT_FOUND', 'EVENT_NOT_CLAIMABLE', 'EVENT_ROUTED', 'LEASE_NOT_HELD', 'LEASE_EXPIRED'],
  effect: 'write',
  replica: 'upstream',
  rest: { method: 'POST', path: '/v1/inbox/nack' },
  mcp: { title: 'Give an event back' },
  cli: {
    usage: 'inbox nack <event_id>',
    examples: [
      'inbox nack evt_01j9z3k4m5n6p7q8r9s0t1v2w3 --reason "payment provider is down"',
      'inbox nack evt_01j9z3k4m5n6p7q8r9s0t1v2w3 --reason "not for us" --retry false',
    ],
  },
  subject: (input) => input.event_id,
  example: { event_id: 'evt_01j9z3k4m5n6p7q8r9s0t1v2w3', reason: 'provider is down' },
}).write({
  commit: async (context, { event_id, lease_id, reason, retry }) => {
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
  },
});
