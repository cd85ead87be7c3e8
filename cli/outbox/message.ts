import {
  outboxEntries,
  outboxFolder,
  outboxMessage,
  type OutboxEntry,
  type OutboxMessage,
} from '../../daemon/outbox.ts';
import type { ArgumentSpec, CommandContext } from '../command.ts';
import { CliError } from '../errors.ts';
import { EXIT } from '../exit.ts';
import { textArgument } from '../input/option-values.ts';
import { whyEmpty } from '../approvals/outbox-hint.ts';

export const MESSAGE: ArgumentSpec = {
  name: 'id',
  required: false,
  summary: 'Which message, by its id; the newest when left out',
  choices: ['latest'],
};

const NEWEST = 'latest';

/** The message that a command names, or the newest one of those that will do. Exit code 3 when there is none. */
export function chosenMessage(
  context: CommandContext,
  willDo: (entry: OutboxEntry) => boolean = () => true,
): OutboxMessage {
  const folder = outboxFolder(context.home);
  const name = textArgument(context, 'id') ?? NEWEST;
  const entries = outboxEntries(folder);
  // Where none will do, the newest one says why.
  const id = name === NEWEST ? (entries.find(willDo) ?? entries[0])?.id : name;
  const message = id === undefined ? null : outboxMessage(folder, id);
  if (message) return message;
  throw new CliError({
    code: 'NOT_FOUND',
    message:
      id === undefined ? 'The outbox of this machine is empty.' : `There is no message \`${id}\`.`,
    hint: id === undefined ? whyEmpty(context) : 'See what is there: svc outbox list',
    exit: EXIT.nothing,
  });
}
