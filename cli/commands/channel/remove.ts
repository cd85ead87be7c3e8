import { showing } from '../../call/operation-command.ts';
import { safeLine } from '../../view/terminal-text.ts';

/** A removed channel. */
export const run = showing<'channel_remove'>(({ id }) => ({
  lines: () => [
    safeLine(
      `Removed ${id}. Its links and buttons no longer work. Requests only it could decide go to the owner.`,
    ),
  ],
}));
