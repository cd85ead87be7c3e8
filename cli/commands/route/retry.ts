import { pluralize } from '../../../shared/lib/pluralize.ts';
import { showing } from '../../call/operation-command.ts';
import { safeLine } from '../../view/terminal-text.ts';

/** The deliveries being retried. */
export const run = showing<'route_retry'>(({ retried, more, route_id: id }) => {
  const count = pluralize(retried, 'delivery is', 'deliveries are');
  return {
    lines: () => [
      retried === 0 ? 'Nothing to retry.' : `${count} being retried now.`,
      ...(more ? ['There are more: run the command again.'] : []),
      safeLine(`Check progress with: svc route attempts ${id}`),
    ],
  };
});
