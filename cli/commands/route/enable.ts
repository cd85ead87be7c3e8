import { pluralize } from '../../../shared/lib/pluralize.ts';
import { showing } from '../../call/operation-command.ts';
import { matchText } from '../../approvals/routes.ts';
import { safeLine } from '../../view/terminal-text.ts';

/** An enabled route. */
export const run = showing<'route_enable'>((route) => {
  const { id, callback_url: url, resumed, more } = route;
  const count = pluralize(resumed, 'returned event is', 'returned events are');
  return {
    lines: (look) => [
      look.bold(safeLine(`${matchText(route)} go to ${url} again`)),
      ...(resumed === 0 ? [] : [`${count} being delivered now.`]),
      ...(more ? ['There are more: run the command again.'] : []),
      safeLine(`Check progress with: svc route attempts ${id}`),
    ],
  };
});
