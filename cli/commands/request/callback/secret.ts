import { isObject } from '../../../../shared/lib/guards.ts';
import { showingSecret } from '../../../approvals/shown-once.ts';
import type { View } from '../../../view/output.ts';
import { timeText } from '../../../view/table.ts';
import { safeLine } from '../../../view/terminal-text.ts';

export const run = showingSecret(callbackSecretView);

/** The secret that signs callbacks for requests. */
function callbackSecretView(answer: unknown): View {
  if (!isObject(answer) || typeof answer['secret'] !== 'string') return {};
  const { secret, previous_valid_until: until } = answer;
  return {
    lines: (look) => [
      safeLine(secret),
      '',
      look.yellow("You won't see it again: store it where the receiver checks signatures."),
      ...(typeof until === 'string'
        ? [`The previous secret also signs until ${safeLine(timeText(until, look.now))}.`]
        : []),
    ],
  };
}
