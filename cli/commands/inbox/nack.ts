import type { Additions } from '../../command.ts';
import { showing } from '../../call/operation-command.ts';
import { parkView } from '../../view/parks.ts';

export const declaration: Additions = {
  stored: { event_id: 'claimed' },
  seeAlso: ['inbox park', 'inbox ack', 'inbox requeue'],
};

/** `svc inbox nack`: with `--until` the view says what the event waits for. */
export const run = showing<'inbox_nack'>(parkView);
