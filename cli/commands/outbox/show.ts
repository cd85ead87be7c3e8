import type { CommandContext, Declaration } from '../../command.ts';
import { EXIT } from '../../exit.ts';
import { messageView } from '../../view/outbox.ts';
import { chosenMessage, MESSAGE } from '../../outbox/message.ts';

export const declaration: Declaration = {
  order: 2,
  summary: 'Show a saved message as its reader would see it.',
  description:
    'In messages to people, an agent wrote the lines marked with ">". Exit code 3: no such message.',
  args: [MESSAGE],
  options: [],
  examples: ['outbox show', 'outbox show latest --json | jq -r .text'],
};

/** `svc outbox show`: one message, decoded. */
export async function run(context: CommandContext): Promise<number> {
  const message = chosenMessage(context);
  const { id, sentAt, from, to, cc, deliveredTo, subject, text, attachments, file } = message;
  const shown = {
    id,
    sent_at: sentAt,
    from,
    to,
    ...(cc !== '' && { cc }),
    ...(deliveredTo !== null && { delivered_to: deliveredTo }),
    subject,
    text,
    attachments,
    file,
  };
  context.output.answer(shown, messageView(message));
  return EXIT.done;
}
