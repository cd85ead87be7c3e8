import { pluralize } from '../../../shared/lib/pluralize.ts';
import { isObject } from '../../../shared/lib/guards.ts';
import { showing } from '../../operation-command.ts';
import { matchText } from '../../approvals/routes.ts';
import type { View } from '../../view/output.ts';
import { plainText, safeLine } from '../../view/terminal-text.ts';

export const run = showing(routeEnabledView);

/** An enabled route. */
function routeEnabledView(answer: unknown): View {
  if (!isObject(answer) || typeof answer['resumed'] !== 'number') return {};
  const { id, callback_url: url, resumed, more } = answer;
  const count = pluralize(resumed, 'returned event is', 'returned events are');
  return {
    lines: (look) => [
      look.bold(safeLine(`${matchText(answer)} go to ${plainText(url)} again`)),
      ...(resumed === 0 ? [] : [`${count} being delivered now.`]),
      ...(more === true ? ['There are more: run the command again.'] : []),
      safeLine(`Check progress with: svc route attempts ${plainText(id)}`),
    ],
  };
}
