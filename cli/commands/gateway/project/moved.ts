import { DATA_OPTIONS, PROJECT_ARGUMENT } from '../../../gateway/options.ts';
import type { CommandContext, Declaration } from '../../../command.ts';
import { textOption } from '../../../input/option-values.ts';
import { callOperator } from '../../../gateway/call.ts';
import { orderPath, tellOrder } from '../../../gateway/order.ts';

export const declaration: Declaration = {
  order: 11,
  summary: 'Close a project on hold for good, once another gateway has imported it.',
  description:
    'Callers that still reach this gateway get UNAVAILABLE with the new address, so nothing is lost while DNS points here. The data stays in projects/ID in the data folder, or in its database on the server, and files stay in the bucket if there is one. Delete them by hand, unless the other gateway uses the same bucket.',
  args: [PROJECT_ARGUMENT],
  options: [
    { flag: 'to', value: 'URL', summary: 'Base address of the other gateway; shown to callers' },
    ...DATA_OPTIONS,
  ],
  examples: ['gateway project moved shop --to https://svc.example.com'],
};

export async function run(context: CommandContext): Promise<void> {
  const path = orderPath(context, 'moved');
  const to = textOption(context, 'to') ?? null;
  const where = to ?? 'another gateway';
  tellOrder(context, await callOperator(context, { method: 'POST', path, body: { to } }), {
    changed: (slug, id) =>
      `Closed ${slug} here: callers are told it moved to ${where}. Its data stays until you delete it: projects/${id} in the data folder, or its database on the server.`,
    same: (slug) => `${slug} was already closed.`,
  });
}
