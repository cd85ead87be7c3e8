import { DATA_OPTIONS, PROJECT_ARGUMENT } from '../../../gateway/options.ts';
import type { CommandContext, Declaration } from '../../../command.ts';
import { requiredText } from '../../../input/option-values.ts';
import { callOperator } from '../../../gateway/call.ts';
import { orderPath, tellOrder } from '../../../gateway/order.ts';

export const declaration: Declaration = {
  order: 7,
  summary: 'Stop a project from sending mail.',
  description:
    'Calls to send fail with SEND_BLOCKED and your reason, and queued messages fail. The gateway also blocks a project automatically after too many bounces or complaints.',
  args: [PROJECT_ARGUMENT],
  options: [
    { flag: 'reason', value: 'TEXT', summary: 'Why; shown to the project (up to 200 characters)' },
    ...DATA_OPTIONS,
  ],
  examples: ['gateway project block shop --reason "Customer complaints"'],
};

const EXAMPLE = 'For example: svc gateway project block shop --reason "Customer complaints"';

export async function run(context: CommandContext): Promise<void> {
  const reason = requiredText(context, 'reason', EXAMPLE).trim();
  const path = orderPath(context, 'block');
  const answer = await callOperator(context, { method: 'POST', path, body: { reason } });
  tellOrder(context, answer, {
    changed: (slug) =>
      `Blocked ${slug}: it can't send mail, and queued messages fail. To unblock: svc gateway project unblock ${slug}`,
    same: (slug) => `${slug} was already blocked for this reason.`,
  });
}
