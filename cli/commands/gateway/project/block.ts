import { DATA_OPTIONS, PROJECT_ARGUMENT } from '../../../gateway/options.ts';
import type { CommandContext, Declaration } from '../../../command.ts';
import { requiredText } from '../../../input/option-values.ts';
import { callOperator } from '../../../gateway/call.ts';
import { orderPath, tellOrder } from '../../../gateway/order.ts';

export const declaration: Declaration = {
  order: 7,
  summary: 'Let a project send no mail.',
  description:
    'Its calls to send are refused with SEND_BLOCKED and the reason, and what waits to be sent fails. A project is blocked by itself when too many of its messages bounce or are complained about.',
  args: [PROJECT_ARGUMENT],
  options: [
    { flag: 'reason', value: 'TEXT', summary: 'Why; the project is told (up to 200 characters)' },
    ...DATA_OPTIONS,
  ],
  examples: ['gateway project block shop --reason "Complaints of customers"'],
};

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
