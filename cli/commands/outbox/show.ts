import type { CommandContext, Declaration } from '../../command.ts';
import { EXIT } from '../../exit.ts';
import { letterView } from '../../view/outbox.ts';
import { chosenLetter, LETTER } from '../../outbox/letter.ts';

export const declaration: Declaration = {
  order: 2,
  summary: 'Show a letter or a mail as its reader would see it.',
  description:
    'In a letter to a person, lines marked with ">" were written by an agent. Exit code 3 when there is none.',
  args: [LETTER],
  options: [],
  examples: ['outbox show', 'outbox show latest --json | jq -r .text'],
};

/** `svc outbox show`: one letter, decoded. */
export async function run(context: CommandContext): Promise<number> {
  const letter = chosenLetter(context);
  const { id, sentAt, from, to, subject, text, attachments, file } = letter;
  const shown = { id, sent_at: sentAt, from, to, subject, text, attachments, file };
  context.output.answer(shown, letterView(letter));
  return EXIT.done;
}
