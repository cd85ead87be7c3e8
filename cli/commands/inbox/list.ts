import type { Additions } from '../../command.ts';
import { showing } from '../../operation-command.ts';
import { eventListView } from '../../view/events.ts';

export const declaration: Additions = {
  moreExamples: ['inbox list --status waiting'],
};

/** `svc inbox list`: a mail shows as a mail, a parked event with what it waits for, any other event as its fields. */
export const run = showing(eventListView);
