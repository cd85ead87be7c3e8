import { outboxFolder } from '../../../shared/host/outbox.ts';
import { errorCode } from '../../../shared/lib/guards.ts';
import type { CommandContext, Declaration } from '../../command.ts';
import { CliError } from '../../errors.ts';
import { EXIT } from '../../exit.ts';
import { dataFolderOf } from '../../gateway/call.ts';
import { DATA_OPTIONS } from '../../gateway/options.ts';
import { integerOption, switchOption } from '../../input/option-values.ts';
import {
  chosenMessage,
  listMessages,
  MESSAGE,
  showMessage,
  type Outbox,
} from '../../outbox/message.ts';

export const declaration: Declaration = {
  order: 13,
  summary: 'Show mail that a gateway without a mail server kept, such as the link to sign in.',
  description:
    "Without SVC_SMTP_URL a gateway sends no mail: it saves it beside its data. Without an id, shows the newest mail. Run it on the gateway's host, as the gateway's user. Exit code 3: no such mail.",
  args: [MESSAGE],
  options: [
    { flag: 'list', summary: 'List the mail, newest first' },
    { flag: 'limit', value: 'N', summary: 'How many to list (default 20)' },
    ...DATA_OPTIONS,
  ],
  examples: ['gateway outbox', 'gateway outbox --list', 'gateway outbox --json | jq -r .text'],
  seeAlso: ['outbox list', 'login'],
};

const LIMIT_DEFAULT = 20;
const NOT_ALLOWED: readonly string[] = ['EACCES', 'EPERM'];

/** `svc gateway outbox`: reads the folder itself, so the gateway needn't run. */
export async function run(context: CommandContext): Promise<number> {
  const limit = integerOption(context, 'limit', { min: 1, max: 1000 }) ?? LIMIT_DEFAULT;
  const outbox = outboxOf(context);
  try {
    if (switchOption(context, 'list')) {
      return listMessages(context, outbox, limit) > 0 ? EXIT.done : EXIT.nothing;
    }
    showMessage(context, chosenMessage(context, outbox));
    return EXIT.done;
  } catch (error) {
    throw NOT_ALLOWED.includes(errorCode(error) ?? '') ? notAllowed(outbox) : error;
  }
}

function outboxOf(context: CommandContext): Outbox {
  const folder = outboxFolder({ dataFolder: dataFolderOf(context) });
  return {
    folder,
    empty: `No mail is in ${folder}.`,
    why: 'Mail stays there while the gateway has no SVC_SMTP_URL. With data in another folder: svc gateway outbox --data FOLDER',
    list: 'svc gateway outbox --list',
  };
}

function notAllowed({ folder }: Outbox): CliError {
  return new CliError({
    code: 'LOCAL_FILE',
    message: `This user isn't allowed to read ${folder}.`,
    hint: "Run the command as the gateway's user: sudo -u USER svc gateway outbox",
    exit: EXIT.refused,
  });
}
