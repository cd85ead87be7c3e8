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
import { messageView } from '../view/outbox.ts';

export const MESSAGE: ArgumentSpec = {
  name: 'id',
  required: false,
  summary: "The message's id (default: the newest)",
  choices: ['latest'],
};

const NEWEST = 'latest';

/** A folder of mail that was saved instead of sent. */
export interface Outbox {
  readonly folder: string;
  /** What an empty one is called, and why it's empty. */
  readonly empty: string;
  readonly why: string;
  /** The command that lists it. */
  readonly list: string;
}

/** The outbox of this machine's daemon. */
export function localOutbox(context: CommandContext): Outbox {
  return {
    folder: outboxFolder(context.home),
    empty: 'The local outbox is empty.',
    why: whyEmpty(context),
    list: 'svc outbox list',
  };
}

/** The message the command names, or the newest suitable one. Exit code 3 if there is none. */
export function chosenMessage(
  context: CommandContext,
  { folder, empty, why, list }: Outbox,
  {
    willDo = () => true,
    named = textArgument(context, 'id'),
  }: {
    readonly willDo?: (entry: OutboxEntry) => boolean;
    readonly named?: string | undefined;
  } = {},
): OutboxMessage {
  const name = named ?? NEWEST;
  const entries = outboxEntries(folder);
  // If none is suitable, use the newest one, so that the error is about a real message.
  const id = name === NEWEST ? (entries.find(willDo) ?? entries[0])?.id : name;
  const message = id === undefined ? null : outboxMessage(folder, id);
  if (message) return message;
  throw new CliError({
    code: 'NOT_FOUND',
    message: id === undefined ? empty : `No message \`${id}\`.`,
    hint: id === undefined ? why : `List the messages: ${list}`,
    exit: EXIT.nothing,
  });
}

/** Prints a message as its reader would see it. */
export function showMessage({ output }: CommandContext, message: OutboxMessage): void {
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
  output.answer(shown, messageView(message));
}

const COLUMNS = ['sent_at', 'to', 'subject', 'id'];

/** Prints the messages, newest first; returns how many there are. */
export function listMessages(
  { output }: CommandContext,
  { folder, empty, why }: Outbox,
  limit: number,
): number {
  const entries = outboxEntries(folder);
  const items = entries
    .slice(0, limit)
    .map(({ id, sentAt, to, subject }) => ({ id, sent_at: sentAt, to, subject }));
  const none = { lines: () => [empty, why] };
  output.answer({ items }, items.length === 0 ? none : { columns: COLUMNS });
  const more = entries.length - items.length;
  if (more > 0) output.note(`${more} older. To see them: --limit ${entries.length}`);
  return entries.length;
}
