import * as z from 'zod';
import { defineOperation } from '../../kernel/operation.ts';
import { effective, requeue } from '../../rules/inbox/event-state.ts';
import { eventId } from '../fields.ts';
import { moveEvent } from './move.ts';
import { recordResumed } from './wake.ts';

export const inboxRequeue = defineOperation({
  name: 'inbox_requeue',
  summary: 'Put a dead or waiting event back in the queue.',
  description:
    'The event is pending again at once, with its attempts reset to zero. A question it waited for stays open.',
  scope: 'inbox:write',
  input: z.strictObject({ event_id: eventId }),
  output: z.object({
    event_id: z.string().describe('`evt_…`.'),
    status: z.literal('pending').describe('It can be claimed.'),
  }),
  errors: ['NOT_FOUND', 'EVENT_NOT_CLAIMABLE'],
  effect: 'write',
  replica: 'upstream',
  rest: { method: 'POST', path: '/v1/inbox/requeue' },
  mcp: { title: 'Requeue an event' },
  cli: {
    usage: 'inbox requeue <event_id>',
    examples: ['inbox requeue evt_01j9z3k4m5n6p7q8r9s0t1v2w3'],
  },
  subject: (input) => input.event_id,
  example: { event_id: 'evt_01j9z3k4m5n6p7q8r9s0t1v2w3' },
}).write({
  commit: async (context, { event_id }) => {
    const { row } = await moveEvent(context, event_id, (queued) =>
      requeue(effective(queued, context.now)),
    );
    if (row.status === 'waiting') await recordResumed(context, row, 'hand');
    context.emit({ kind: 'event_ready', source: row.source, type: row.type });
    return { event_id, status: 'pending' as const };
  },
});
