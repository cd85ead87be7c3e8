import * as z from 'zod';
import { isoTime } from '../../lib/clock.ts';
import { ServiceError } from '../../lib/errors.ts';
import { ACK_RESULT_MAX_BYTES } from '../../lib/limits.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { ack } from '../../rules/inbox/event-state.ts';
import { eventId, jsonText, leaseId } from '../fields.ts';
import { asTextWarnings, warningsAsText } from '../json-as-text.ts';
import { boundValues, requestId } from '../request/fields.ts';
import { fittingApproval, spend } from '../request/spend.ts';
import { LEASE_ERRORS, moveEvent } from './move.ts';

export const inboxAck = defineOperation({
  name: 'inbox_ack',
  summary: 'Finish a claimed event.',
  description:
    'Marks the event done and stores an optional result. Acking again is safe and changes nothing.',
  scope: 'inbox:write',
  input: z
    .strictObject({
      event_id: eventId,
      lease_id: leaseId,
      result: jsonText(ACK_RESULT_MAX_BYTES, '4 KB').describe('Any JSON, up to 4 KB serialized.'),
      spends: requestId.optional().describe('The approval this act uses up.'),
      bind: boundValues.describe('The values you acted on, exactly as approved.'),
    })
    .refine(({ spends, bind }) => spends !== undefined || bind === undefined, {
      path: ['bind'],
      error: 'Only with spends.',
    }),
  output: z.object({
    event_id: z.string().describe('`evt_…`.'),
    status: z.literal('done').describe('Acked events stay done.'),
    acked_at: z.string().describe('When it was acked first.'),
    warnings: asTextWarnings,
  }),
  errors: [...LEASE_ERRORS, 'APPROVAL_NOT_APPLICABLE'],
  effect: 'write',
  exact: ['result', 'bind'],
  replica: 'upstream',
  rest: { method: 'POST', path: '/v1/inbox/ack' },
  mcp: { title: 'Finish an event', idempotent: true },
  cli: {
    usage: 'inbox ack <event_id>',
    examples: [
      'inbox ack evt_01j9z3k4m5n6p7q8r9s0t1v2w3',
      `inbox ack evt_01j9z3k4m5n6p7q8r9s0t1v2w3 --result '{"ticket": 42}'`,
      'inbox ack evt_01j9z3k4m5n6p7q8r9s0t1v2w3 --spends req_01j9z3k4m5n6p7q8r9s0t1v2w3 --bind @values.json',
    ],
  },
  subject: (input) => input.event_id,
  example: { event_id: 'evt_01j9z3k4m5n6p7q8r9s0t1v2w3', result: { ticket: 42 } },
}).write({
  commit: async (context, { event_id, lease_id, result, spends, bind }) => {
    const { caller, store, now } = context;
    const approval =
      spends === undefined
        ? null
        : await fittingApproval(context, { requestId: spends, eventId: event_id, bind });
    const { row, verdict } = await moveEvent(context, event_id, (queued) =>
      ack(queued, { now, keyId: caller.keyId, leaseId: lease_id }),
    );
    if (verdict.repeat) {
      // An event that was finished without the approval can't use it any more.
      if (approval && approval.spent_by !== event_id) throw new ServiceError('EVENT_NOT_CLAIMABLE');
      return { event_id, status: 'done' as const, acked_at: row.finished_at ?? isoTime(now) };
    }
    if (approval) await spend(context, approval, { spentBy: event_id, result });
    await store.events.setRemark(row.seq, 'result', result ?? null);
    const warnings = warningsAsText({ result });
    return { event_id, status: 'done' as const, acked_at: isoTime(now), ...warnings };
  },
});
