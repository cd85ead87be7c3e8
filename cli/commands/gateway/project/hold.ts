import { DATA_OPTIONS, PROJECT_ARGUMENT } from '../../../gateway/options.ts';
import type { CommandContext, Declaration } from '../../../command.ts';
import { callOperator } from '../../../gateway/call.ts';
import { orderPath, tellOrder } from '../../../gateway/order.ts';

export const declaration: Declaration = {
  order: 9,
  summary: 'Put a project on hold (read-only) before moving it.',
  description:
    'Reads and waits still work. Writes fail with UNAVAILABLE and Retry-After, so senders keep their data and retry. The project sends nothing, and nothing expires. The command returns when sends in progress are done. The hold survives a restart. If several gateways share one store, stop all but this one first.',
  args: [PROJECT_ARGUMENT],
  options: DATA_OPTIONS,
  examples: ['gateway project hold shop'],
};

export async function run(context: CommandContext): Promise<void> {
  const path = orderPath(context, 'hold');
  const answer = context.output.spin(
    () => 'Waiting for sends in progress',
    callOperator(context, { method: 'POST', path }),
  );
  tellOrder(context, await answer, {
    changed: (slug) =>
      `${slug} is on hold: read-only. To end the hold: svc gateway project release ${slug}`,
    same: (slug) => `${slug} was already on hold.`,
  });
}
