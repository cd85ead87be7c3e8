import type { CommandContext, Declaration } from '../../command.ts';
import { EXIT } from '../../exit.ts';
import { WATCH_OPTION } from '../../input/flags.ts';
import { integerOption, switchOption } from '../../input/option-values.ts';
import { ALL_OPTION } from '../../call/pages.ts';
import { listMessages, localOutbox } from '../../outbox/message.ts';
import { WHY_HERE } from '../../view/outbox.ts';

export const declaration: Declaration = {
  order: 1,
  summary: 'List mail saved on this machine instead of sent, newest first.',
  description:
    'Without SVC_SMTP_URL the daemon sends no mail: it saves questions, approvals, address confirmations and svc email send messages here. It keeps the newest 1,000.',
  args: [],
  options: [
    { flag: 'limit', value: 'N', summary: 'How many to list (default 20)' },
    ALL_OPTION,
    WATCH_OPTION,
  ],
  examples: ['outbox list', "outbox list --json | jq -r '.items[].id'"],
};

const LIMIT_DEFAULT = 20;
/** More than the daemon keeps. */
const MOST = 1001;

/** `svc outbox list`: the messages svc would have sent, newest first. */
export async function run(context: CommandContext): Promise<number> {
  const { output } = context;
  const given = integerOption(context, 'limit', { min: 1, max: 1000 });
  const limit = switchOption(context, 'all') ? MOST : (given ?? LIMIT_DEFAULT);
  const count = listMessages(context, localOutbox(context), limit);
  if (count > 0 && !output.json) output.note(WHY_HERE);
  return EXIT.done;
}
