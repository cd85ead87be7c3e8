import { showingSecret } from '../../../approvals/shown-once.ts';
import { timeText } from '../../../view/table.ts';
import { safeLine } from '../../../view/terminal-text.ts';

/** The secret that signs callbacks for requests. */
export const run = showingSecret<'request_callback_secret'>(
  ({ secret, previous_valid_until: until }) => ({
    lines: (look) => [
      safeLine(secret),
      '',
      look.yellow("You won't see it again: store it where the receiver checks signatures."),
      ...(until === null
        ? []
        : [`The previous secret also signs until ${safeLine(timeText(until, look.now))}.`]),
    ],
  }),
);
