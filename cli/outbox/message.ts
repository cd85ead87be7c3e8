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
  summary: "The message's id (default: the newest)",
  choices: ['latest'],
};

const NEWEST = 'latest';

/** The message that a command names, or the newest one of those that will do. Exit code 3 when not found. */
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
    message: id === undefined ? 'The local outbox is empty.' : `No message \`${id}\`.`,
    hint: id === undefined ? whyEmpty(context) : 'List the messages: svc outbox list',
    exit: EXIT.nothing,
  });
}
