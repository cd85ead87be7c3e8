import { DATA_OPTIONS, PROJECT_ARGUMENT } from '../../../gateway/options.ts';
import type { CommandContext, Declaration } from '../../../command.ts';
import { textOption } from '../../../input/option-values.ts';
import { callOperator } from '../../../gateway/call.ts';
import { orderPath, tellOrder } from '../../../gateway/order.ts';

export const declaration: Declaration = {
  order: 11,
  summary: 'Close a held project for good, after another gateway has taken it in.',
  description:
    'Whoever still calls it here is answered UNAVAILABLE with the address to use, so that nothing is lost while names lead here. Its data stay in projects/ID below the data folder or in its database on the server, and its files in the bucket where there is one: remove them by hand, unless the other gateway has the same bucket.',
  args: [PROJECT_ARGUMENT],
  options: [
    { flag: 'to', value: 'URL', summary: 'Base address of the other gateway; callers are told' },
    ...DATA_OPTIONS,
  ],
  examples: ['gateway project moved shop --to https://svc.example.com'],
};

/** `svc gateway project moved NAME` */
export async function run(context: CommandContext): Promise<void> {
  const path = orderPath(context, 'moved');
  const to = textOption(context, 'to') ?? null;
  const where = to ?? 'another gateway';
  tellOrder(context, await callOperator(context, { method: 'POST', path, body: { to } }), {
    changed: (slug, id) =>
      `${slug} is closed here: callers are told that it has moved to ${where}. Its data stay until you remove them: projects/${id} below the data folder, or its database on the server.`,
    same: (slug) => `${slug} was closed before.`,
  });
}
