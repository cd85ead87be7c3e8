import type { CommandContext } from '../command.ts';
import { callOperator } from './gateway-project-call.ts';
import { orderPath, tellOrder } from './gateway-project-order.ts';

/** `svc gateway project unblock NAME` */
export async function run(context: CommandContext): Promise<void> {
  const path = orderPath(context, 'unblock');
  tellOrder(context, await callOperator(context, { method: 'POST', path }), {
    changed: (slug) => `${slug} may send again. Bounces and complaints up to now count no longer.`,
    same: (slug) => `${slug} was not blocked.`,
  });
}
