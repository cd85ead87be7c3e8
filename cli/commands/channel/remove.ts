import { isObject } from '../../../shared/lib/guards.ts';
import { showing } from '../../operation-command.ts';
import type { View } from '../../view/output.ts';
import { safeLine } from '../../view/terminal-text.ts';

export const run = showing(channelRemovedView);

/** A removed channel. */
function channelRemovedView(answer: unknown): View {
  if (!isObject(answer) || typeof answer['id'] !== 'string') return {};
  const { id } = answer;
  return {
    lines: () => [
      safeLine(
        `Removed ${id}. Its links and buttons no longer work. Requests only it could decide go to the owner.`,
      ),
    ],
  };
}
