import { showing } from '../../call/operation-command.ts';
import { safeLine } from '../../view/terminal-text.ts';

/** A removed route. */
export const run = showing<'route_remove'>(({ id }) => ({
  lines: () => [safeLine(`Removed ${id}. Undelivered events are pending in the inbox again.`)],
}));
