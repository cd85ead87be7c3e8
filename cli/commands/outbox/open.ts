import { isNotification } from '../../../shared/host/outbox.ts';
import { askStatus } from '../../../daemon/probe.ts';
import { openInBrowser } from '../../browser.ts';
import type { CommandContext, Declaration } from '../../command.ts';
import { CliError } from '../../errors.ts';
import { EXIT } from '../../exit.ts';
import { switchOption } from '../../input/option-values.ts';
import { chosenMessage, localOutbox, MESSAGE } from '../../outbox/message.ts';
import { openQuestion } from '../../outbox/question.ts';

export const declaration: Declaration = {
  order: 3,
  summary: 'Open the decision page linked in a message to a person.',
  description:
    "Without an id, opens the newest question that nobody has decided, otherwise the newest message. Opening the page doesn't decide anything. svc never opens a link an agent wrote. Without a desktop, svc prints the link. Exit code 3: no such message.",
  args: [
    {
      ...MESSAGE,
      summary: "The message's or request's id (default: the newest question that waits)",
    },
  ],
  options: [{ flag: 'print', summary: 'Print the link instead of opening it' }],
  examples: [
    'outbox open',
    'outbox open req_01j9z3k4m5n6p7q8r9s0t1v2w3',
    'outbox open latest --print',
  ],
};

/** `svc outbox open`: opens the page a message links to, or prints its address. */
export async function run(context: CommandContext): Promise<number> {
  const { env, output } = context;
  const question = await openQuestion(context);
  // The user wants our latest message, not an agent's mail that arrived later.
  const message = chosenMessage(context, localOutbox(context), {
    willDo: isNotification,
    ...(question && { named: question.messageId }),
  });
  const { id, link: written, subject } = message;
  if (written === null) {
    throw new CliError({
      code: 'NO_LINK',
      message: isNotification(message)
        ? 'This message has no link to open.'
        : "svc doesn't open this mail's links because an agent wrote it.",
      hint: `Read it with: svc outbox show ${id}`,
      exit: EXIT.refused,
    });
  }
  const link = await asOfNow(written, context);
  const isWanted = !switchOption(context, 'print');
  const opened = isWanted && (await openInBrowser(link, env));
  if (output.json) output.answer({ id, url: link, opened });
  else output.line(opened ? `Opened in your browser: ${subject}` : link);
  if (isWanted && !opened) output.note(noBrowserText(link));
  if (question !== null && question.more > 0) {
    const noun = question.more === 1 ? 'question waits' : 'questions wait';
    output.note(`${question.more} more ${noun}: svc request list --status pending`);
  }
  return EXIT.done;
}

function noBrowserText(link: string): string {
  const { hostname, port } = new URL(link);
  const text = "svc couldn't open a browser here: open the link yourself.";
  if (hostname !== '127.0.0.1') return text;
  return `${text} From another machine, forward the port first: ssh -L ${port}:127.0.0.1:${port} HOST`;
}

/** The message has the daemon's port from when it was written; the daemon may use another one now. */
async function asOfNow(link: string, { home }: CommandContext): Promise<string> {
  const url = new URL(link);
  if (url.hostname !== '127.0.0.1') return link;
  const status = await askStatus(home.socketPath);
  return status ? status.base_url + url.pathname : link;
}
