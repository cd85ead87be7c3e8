import { isObject } from '../../../shared/lib/guards.ts';
import { showing } from '../../operation-command.ts';
import type { View } from '../../view/output.ts';
import { safeLine } from '../../view/terminal-text.ts';

export const run = showing(routeRemovedView);

/** A removed route. */
function routeRemovedView(answer: unknown): View {
  if (!isObject(answer) || typeof answer['id'] !== 'string') return {};
  const { id } = answer;
  return {
    lines: () => [safeLine(`Removed ${id}. Undelivered events are pending in the inbox again.`)],
  };
}
