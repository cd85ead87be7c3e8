import type { CommandContext } from '../command.ts';
import { callOperator } from './gateway-project-call.ts';
import { orderPath, tellOrder } from './gateway-project-order.ts';

/** `svc gateway project release NAME` */
export async function run(context: CommandContext): Promise<void> {
  const path = orderPath(context, 'release');
  tellOrder(context, await callOperator(context, { method: 'POST', path }), {
    changed: (slug) => `${slug} is active again.`,
    same: (slug) => `${slug} was not held.`,
  });
}
