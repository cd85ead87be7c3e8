import type { CommandContext } from '../command.ts';
import { textOption } from '../input/option-values.ts';
import { callOperator } from './gateway-project-call.ts';
import { orderPath, tellOrder } from './gateway-project-order.ts';

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
