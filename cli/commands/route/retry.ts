import { pluralize } from '../../../shared/lib/pluralize.ts';
import { isObject } from '../../../shared/lib/guards.ts';
import { showing } from '../../operation-command.ts';
import type { View } from '../../view/output.ts';
import { plainText, safeLine } from '../../view/terminal-text.ts';

export const run = showing(routeRetriedView);

/** The deliveries being retried. */
function routeRetriedView(answer: unknown): View {
  if (!isObject(answer) || typeof answer['retried'] !== 'number') return {};
  const { retried, more, route_id: id } = answer;
  const count = pluralize(retried, 'delivery is', 'deliveries are');
  return {
    lines: () => [
      retried === 0 ? 'Nothing to retry.' : `${count} being retried now.`,
      ...(more === true ? ['There are more: run the command again.'] : []),
      safeLine(`Check progress with: svc route attempts ${plainText(id)}`),
    ],
  };
}
