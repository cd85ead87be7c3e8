import { isObject } from '../../../shared/lib/guards.ts';
import { showing } from '../../operation-command.ts';
import type { View } from '../../view/output.ts';
import { safeLine } from '../../view/terminal-text.ts';

export const run = showing(routeDisabledView);

/** A disabled route. */
function routeDisabledView(answer: unknown): View {
  if (!isObject(answer) || typeof answer['id'] !== 'string') return {};
  const { id } = answer;
  return {
    lines: () => [
      safeLine(`Disabled ${id}. Undelivered events are pending in the inbox again.`),
      safeLine(`To enable it: svc route enable ${id}`),
    ],
  };
}
