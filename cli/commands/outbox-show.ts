import type { CommandContext } from '../command.ts';
import { EXIT } from '../exit.ts';
import { letterView } from '../view/outbox.ts';
import { chosenLetter } from './outbox-letter.ts';

/** `svc outbox show`: one letter, decoded. */
export async function run(context: CommandContext): Promise<number> {
  const letter = chosenLetter(context);
  const { id, sentAt, from, to, subject, text, attachments, file } = letter;
  const shown = { id, sent_at: sentAt, from, to, subject, text, attachments, file };
  context.output.answer(shown, letterView(letter));
  return EXIT.done;
}
