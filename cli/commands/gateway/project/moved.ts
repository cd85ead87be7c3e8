import { DATA_OPTIONS, PROJECT_ARGUMENT } from '../../../gateway/options.ts';
import type { CommandContext, Declaration } from '../../../command.ts';
import { usageError } from '../../../errors.ts';
import { switchOption, textOption } from '../../../input/option-values.ts';
import { callOperator } from '../../../gateway/call.ts';
import { orderPath, tellOrder } from '../../../gateway/order.ts';

export const declaration: Declaration = {
  order: 11,
  summary: 'Close a project on hold for good, once another gateway has imported it.',
  description:
    'Asks for the receipt that the import printed: it fits only if all of the project, up to its last write, has arrived there. Callers that still reach this gateway get UNAVAILABLE with the new address, so nothing is lost while DNS points here. The data stays in projects/ID in the data folder, or in its database on the server, and files stay in the bucket if there is one. Delete them by hand, unless the other gateway uses the same bucket.',
  args: [PROJECT_ARGUMENT],
  options: [
    { flag: 'to', value: 'URL', summary: 'Base address of the other gateway; shown to callers' },
    { flag: 'receipt', value: 'RECEIPT', summary: 'What the import at the other gateway printed' },
    { flag: 'unchecked', summary: 'Close it without a receipt' },
    ...DATA_OPTIONS,
  ],
  examples: [
    'gateway project moved shop --to https://svc.example.com --receipt imp_5d41402abc4b2a76b9719d9110',
  ],
};

export async function run(context: CommandContext): Promise<void> {
  const path = orderPath(context, 'moved');
  const to = textOption(context, 'to') ?? null;
  const receipt = textOption(context, 'receipt') ?? null;
  if (receipt === null && !switchOption(context, 'unchecked')) {
    throw usageError(
      'Give the receipt that the import at the other gateway printed: --receipt RECEIPT. Without one: --unchecked.',
    );
  }
  const where = to ?? 'another gateway';
  tellOrder(context, await callOperator(context, { method: 'POST', path, body: { to, receipt } }), {
    changed: (slug, id) =>
      `Closed ${slug} here: callers are told it moved to ${where}. Its data stays until you delete it: projects/${id} in the data folder, or its database on the server.`,
    same: (slug) => `${slug} was already closed.`,
  });
}
