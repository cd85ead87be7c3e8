import type { Additions } from '../../command.ts';
import { showing } from '../../operation-command.ts';
import { eventView } from '../../view/events.ts';

export const declaration: Additions = {
  stored: { event_id: 'pending' },
  seeAlso: ['inbox ack', 'inbox nack', 'inbox extend', 'inbox work'],
};

export const run = showing(eventView);
