import type { CommandContext } from '../command.ts';
import { requiredText } from '../input/option-values.ts';
import { callOperator } from './gateway-project-call.ts';
import { orderPath, tellOrder } from './gateway-project-order.ts';

const EXAMPLE = 'For example: svc gateway project block shop --reason "Complaints of customers"';

/** `svc gateway project block NAME` */
export async function run(context: CommandContext): Promise<void> {
  const reason = requiredText(context, 'reason', EXAMPLE).trim();
  const path = orderPath(context, 'block');
  const answer = await callOperator(context, { method: 'POST', path, body: { reason } });
  tellOrder(context, answer, {
    changed: (slug) =>
      `${slug} is blocked: it sends nothing, and what waits to be sent fails. To lift it: svc gateway project unblock ${slug}`,
    same: (slug) => `${slug} was blocked for this reason before.`,
  });
}
