import { DATA_OPTIONS, PROJECT_ARGUMENT } from '../../../gateway/options.ts';
import type { CommandContext, Declaration } from '../../../command.ts';
import { callOperator } from '../../../gateway/call.ts';
import { orderPath, tellOrder } from '../../../gateway/order.ts';

export const declaration: Declaration = {
  order: 9,
  summary: 'Let nothing be written to a project, to move it.',
  description:
    'It can be read, waits go on, and every write is refused with UNAVAILABLE and Retry-After, so that senders keep what they have and come again. Nothing is sent for it, and nothing expires. Returns when what was being sent is done, and holds after a restart. With several gateways over one store, end all but this one first.',
  args: [PROJECT_ARGUMENT],
  options: DATA_OPTIONS,
  examples: ['gateway project hold shop'],
};

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
