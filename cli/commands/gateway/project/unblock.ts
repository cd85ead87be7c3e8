import { DATA_OPTIONS, PROJECT_ARGUMENT } from '../../../gateway/options.ts';
import type { CommandContext, Declaration } from '../../../command.ts';
import { callOperator } from '../../../gateway/call.ts';
import { orderPath, tellOrder } from '../../../gateway/order.ts';

export const declaration: Declaration = {
  order: 8,
  summary: 'Let a blocked project send again.',
  description:
    'Lifts a block, whoever set it. Bounces and complaints up to now count no longer, so that the next one does not block it at once.',
  args: [PROJECT_ARGUMENT],
  options: DATA_OPTIONS,
  examples: ['gateway project unblock shop'],
};

/** `svc gateway project unblock NAME` */
export async function run(context: CommandContext): Promise<void> {
  const path = orderPath(context, 'unblock');
  tellOrder(context, await callOperator(context, { method: 'POST', path }), {
    changed: (slug) => `${slug} may send again. Bounces and complaints up to now count no longer.`,
    same: (slug) => `${slug} was not blocked.`,
  });
}
