import { showing } from '../../call/operation-command.ts';
import { safeLine } from '../../view/terminal-text.ts';

/** A disabled route. */
export const run = showing<'route_disable'>(({ id }) => ({
  lines: () => [
    safeLine(`Disabled ${id}. Undelivered events are pending in the inbox again.`),
    safeLine(`To enable it: svc route enable ${id}`),
  ],
}));
