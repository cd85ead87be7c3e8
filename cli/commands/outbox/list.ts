import { outboxEntries, outboxFolder } from '../../../shared/host/outbox.ts';
import type { CommandContext, Declaration } from '../../command.ts';
import { EXIT } from '../../exit.ts';
import { WATCH_OPTION } from '../../input/flags.ts';
import { integerOption, switchOption } from '../../input/option-values.ts';
import { ALL_OPTION } from '../../pages.ts';
import { whyEmpty } from '../../approvals/outbox-hint.ts';
import { emptyView, WHY_HERE } from '../../view/outbox.ts';

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
const COLUMNS = ['sent_at', 'to', 'subject', 'id'];

/** `svc outbox list`: the messages svc would have sent, newest first. */
export async function run(context: CommandContext): Promise<number> {
  const { home, output } = context;
  const given = integerOption(context, 'limit', { min: 1, max: 1000 });
  const limit = switchOption(context, 'all') ? MOST : (given ?? LIMIT_DEFAULT);
  const entries = outboxEntries(outboxFolder(home));
  const items = entries
    .slice(0, limit)
    .map(({ id, sentAt, to, subject }) => ({ id, sent_at: sentAt, to, subject }));
  output.answer(
    { items },
    items.length === 0 ? emptyView(whyEmpty(context)) : { columns: COLUMNS },
  );
  const more = entries.length - items.length;
  if (more > 0) output.note(`${more} older. To see them: --limit ${entries.length}`);
  if (items.length > 0 && !output.json) output.note(WHY_HERE);
  return EXIT.done;
}
