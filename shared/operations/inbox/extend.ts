import * as z from 'zod';
import { isoTime } from '../../lib/clock.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { extend } from '../../rules/inbox/event-state.ts';
import { eventId, leaseId } from '../fields.ts';
import { leaseSeconds } from './claim.ts';
import { LEASE_ERRORS, moveEvent } from './move.ts';

export const inboxExtend = defineOperation({
  name: 'inbox_extend',
  summary: 'Extend the lease on a claimed event.',
  description: 'Makes an active lease end lease_seconds from now.',
  scope: 'inbox:write',
  input: z.strictObject({ event_id: eventId, lease_id: leaseId, lease_seconds: leaseSeconds }),
  output: z.object({
    event_id: z.string().describe('`evt_…`.'),
    lease_id: z.string().describe('The lease, unchanged.'),
    lease_expires_at: z.string().describe('When it now ends.'),
  }),
  errors: LEASE_ERRORS,
  effect: 'write',
  replica: 'upstream',
  rest: { method: 'POST', path: '/v1/inbox/extend' },
  mcp: { title: 'Extend a lease' },
  cli: {
    usage: 'inbox extend <event_id>',
    examples: ['inbox extend evt_01j9z3k4m5n6p7q8r9s0t1v2w3 --lease-seconds 600'],
  },
  subject: (input) => input.event_id,
  example: { event_id: 'evt_01j9z3k4m5n6p7q8r9s0t1v2w3', lease_seconds: 600 },
}).write({
  commit: async (context, { event_id, lease_id, lease_seconds }) => {
    const { caller, now } = context;
    const { verdict } = await moveEvent(context, event_id, (queued) =>
      extend(queued, { now, keyId: caller.keyId, leaseId: lease_id, leaseSeconds: lease_seconds }),
    );
    return {
      event_id,
      lease_id: verdict.next.lease_id ?? '',
      lease_expires_at: isoTime(now + lease_seconds * 1000),
    };
  },
});
