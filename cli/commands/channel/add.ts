import type { Answer } from '../../call/answers.ts';
import type { Additions, CommandContext } from '../../command.ts';
import { CallError, CliError } from '../../errors.ts';
import { EXIT } from '../../exit.ts';
import { callOperation } from '../../call/operation-command.ts';
import type { OperationShape } from '../../call/operation-shape.ts';
import { tellOutbox } from '../../approvals/outbox-hint.ts';
import type { View } from '../../view/output.ts';
import { age } from '../../view/table.ts';
import { hangingNote, safeLine } from '../../view/terminal-text.ts';

export const declaration: Additions = {
  seeAlso: ['channel list', 'ask approval', 'outbox open'],
};

export async function run(
  context: CommandContext,
  shape: OperationShape<'channel_add'>,
): Promise<number> {
  const answer = await callOperation(shape, context).catch((error: unknown) => {
    throw withoutBot(error, context);
  });
  context.output.answer(answer, channelAddedView(answer));
  const isMail = answer.verification_sent_to !== undefined;
  if (context.output.json && context.options['json'] !== true) {
    const first = isMail
      ? 'the person confirms by the link in the mail'
      : 'the person opens `start_url`';
    context.output.note(`Before agents can ask them, ${first}, and the owner approves.`);
  }
  if (isMail) await tellOutbox(context, 'The mail');
  return EXIT.done;
}

const BOT_HINTS: Readonly<Record<string, string>> = {
  CHANNEL_KIND_UNAVAILABLE:
    'Create a bot with @BotFather, then: svc down && SVC_TELEGRAM_TOKEN=… svc up. Or use email.',
  UNAVAILABLE: "The Telegram bot isn't connected yet. See why with: svc status",
};

/** On this machine svc knows more about the missing bot than the server's hint says. */
function withoutBot(error: unknown, { args, client }: CommandContext): unknown {
  if (!(error instanceof CallError) || args['kind'] !== 'telegram' || client().gateway) {
    return error;
  }
  const { code, message, details, exit } = error;
  const hint = Object.hasOwn(BOT_HINTS, code) ? BOT_HINTS[code] : undefined;
  return new CliError({ code, message, hint: hint ?? error.hint, details, exit });
}

/** A new channel and what to do next. */
function channelAddedView(answer: Answer<'channel_add'>): View {
  const { channel, start_url: url, verification_sent_to: address, expires_at: expires } = answer;
  const { id, label } = channel;
  return {
    lines: (look) => {
      const ends = ` It expires ${age(expires, look.now)}.`;
      const step = (text: string) => hangingNote('1. ', safeLine(text), look.columns);
      const first =
        url === undefined
          ? step(`The person opens the link in the mail to ${address}, and confirms.${ends}`)
          : [
              ...step(`Open this link on the person's phone and tap Start.${ends}`),
              '',
              `   ${safeLine(url)}`,
              '',
            ];
      return [
        look.bold(safeLine(`Added ${label}. Before agents can ask them:`)),
        ...first,
        '2. The owner approves the channel.',
        '3. The channel becomes active. Check with: svc channel list',
        look.faint(`   ${safeLine(id)}`),
      ];
    },
  };
}
