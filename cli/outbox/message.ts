import {
  outboxEntries,
  outboxFolder,
  outboxMessage,
  type OutboxEntry,
  type OutboxMessage,
} from '../../shared/host/outbox.ts';
import type { ArgumentSpec, CommandContext } from '../command.ts';
import { CliError } from '../errors.ts';
import { EXIT } from '../exit.ts';
import { textArgument } from '../input/option-values.ts';
import { whyEmpty } from '../approvals/outbox-hint.ts';

export const MESSAGE: ArgumentSpec = {
  name: 'id',
  required: false,
  summary: "The message's id (default: the newest)",
  choices: ['latest'],
};

const NEWEST = 'latest';

/** The message the command names, or the newest suitable one. Exit code 3 if there is none. */
export function chosenMessage(
  context: CommandContext,
  willDo: (entry: OutboxEntry) => boolean = () => true,
  named = textArgument(context, 'id'),
): OutboxMessage {
  const folder = outboxFolder(context.home);
  const name = named ?? NEWEST;
  const entries = outboxEntries(folder);
  // If none is suitable, use the newest one, so that the error is about a real message.
  const id = name === NEWEST ? (entries.find(willDo) ?? entries[0])?.id : name;
  const message = id === undefined ? null : outboxMessage(folder, id);
  if (message) return message;
  throw new CliError({
    code: 'NOT_FOUND',
    message: id === undefined ? 'The local outbox is empty.' : `No message \`${id}\`.`,
    hint: id === undefined ? whyEmpty(context) : 'List the messages: svc outbox list',
    exit: EXIT.nothing,
  });
}
