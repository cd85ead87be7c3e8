import { showing } from '../../operation-command.ts';
import { eventListView } from '../../view/events.ts';

/** `svc inbox list`: a mail is shown as one, any other event as its fields. */
export const run = showing(eventListView);
