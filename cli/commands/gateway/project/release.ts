import { DATA_OPTIONS, PROJECT_ARGUMENT } from '../../../gateway/options.ts';
import type { CommandContext, Declaration } from '../../../command.ts';
import { switchOption } from '../../../input/option-values.ts';
import { callOperator } from '../../../gateway/call.ts';
import { orderPath, tellOrder } from '../../../gateway/order.ts';

export const declaration: Declaration = {
  order: 10,
  summary: 'End a hold and keep the project here.',
  description: 'Writes work again right away, and overdue work runs.',
  args: [PROJECT_ARGUMENT],
  options: [
    {
      flag: 'not-moved',
      summary: 'Also if it is marked as moved: nothing arrived at the other gateway',
    },
    ...DATA_OPTIONS,
  ],
  examples: ['gateway project release shop'],
};

export async function run(context: CommandContext): Promise<void> {
  const path = orderPath(context, 'release');
  const body = { not_moved: switchOption(context, 'not-moved') };
  tellOrder(context, await callOperator(context, { method: 'POST', path, body }), {
    changed: (slug) => `${slug} is active again.`,
    same: (slug) => `${slug} wasn't on hold.`,
  });
}
