import { pluralize } from '../../../shared/lib/pluralize.ts';
import { isObject } from '../../../shared/lib/guards.ts';
import { showing } from '../../operation-command.ts';
import type { View } from '../../view/output.ts';
import { plainText, safeLine } from '../../view/terminal-text.ts';

/** `svc route retry` */
export const run = showing(routeRetriedView);

/** What is tried again. */
function routeRetriedView(answer: unknown): View {
  if (!isObject(answer) || typeof answer['retried'] !== 'number') return {};
  const { retried, more, route_id: id } = answer;
  const count = pluralize(retried, 'delivery is', 'deliveries are');
  return {
    lines: () => [
      retried === 0 ? 'There is nothing to try again.' : `${count} tried again now.`,
      ...(more === true ? ['There are more: run it again.'] : []),
      safeLine(`See how they fare with: svc route attempts ${plainText(id)}`),
    ],
  };
}
