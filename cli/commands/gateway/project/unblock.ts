import { DATA_OPTIONS, PROJECT_ARGUMENT } from '../../../gateway/options.ts';
import type { CommandContext, Declaration } from '../../../command.ts';
import { callOperator } from '../../../gateway/call.ts';
import { orderPath, tellOrder } from '../../../gateway/order.ts';

export const declaration: Declaration = {
  order: 8,
  summary: 'Let a blocked project send mail again.',
  description:
    "Lifts any block, manual or automatic. Earlier bounces and complaints no longer count, so the next one doesn't block the project again.",
  args: [PROJECT_ARGUMENT],
  options: DATA_OPTIONS,
  examples: ['gateway project unblock shop'],
};

export async function run(context: CommandContext): Promise<void> {
  const path = orderPath(context, 'unblock');
  tellOrder(context, await callOperator(context, { method: 'POST', path }), {
    changed: (slug) => `${slug} can send again. Earlier bounces and complaints no longer count.`,
    same: (slug) => `${slug} wasn't blocked.`,
  });
}
