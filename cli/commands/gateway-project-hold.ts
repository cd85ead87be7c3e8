import type { CommandContext } from '../command.ts';
import { callOperator } from './gateway-project-call.ts';
import { orderPath, tellOrder } from './gateway-project-order.ts';

/** `svc gateway project hold NAME` */
export async function run(context: CommandContext): Promise<void> {
  const path = orderPath(context, 'hold');
  const answer = context.output.spin(
    () => 'Waiting until what is being sent is done',
    callOperator(context, { method: 'POST', path }),
  );
  tellOrder(context, await answer, {
    changed: (slug) =>
      `${slug} is held: it can be read, and nothing can be written. To end that: svc gateway project release ${slug}`,
    same: (slug) => `${slug} was held before.`,
  });
}
