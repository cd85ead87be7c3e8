import type { CommandContext, Declaration } from '../../command.ts';
import { EXIT } from '../../exit.ts';
import { chosenMessage, localOutbox, MESSAGE, showMessage } from '../../outbox/message.ts';

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
  showMessage(context, chosenMessage(context, localOutbox(context)));
  return EXIT.done;
}
