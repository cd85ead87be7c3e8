import type { Request } from '../call/answers.ts';
import {
  isNotification,
  outboxEntries,
  outboxFolder,
  type OutboxEntry,
} from '../../shared/host/outbox.ts';
import type { CommandContext } from '../command.ts';
import { CliError } from '../errors.ts';
import { EXIT } from '../exit.ts';
import { textArgument } from '../input/option-values.ts';

/** A message that asks, and how many more questions wait for an answer. */
export interface OpenQuestion {
  readonly messageId: string;
  readonly more: number;
}

const WITHIN_MS = 2000;
/** Subjects are cut, so only the beginning is compared. */
const COMPARED_CHARS = 60;

/**
 * The message that asks what is to be decided: about the request named (`req_…`), or, if nothing is named, the newest
 * question that waits. Null if another message is named, or nothing waits.
 */
export async function openQuestion(context: CommandContext): Promise<OpenQuestion | null> {
  const named = textArgument(context, 'id');
  const entries = outboxEntries(outboxFolder(context.home)).filter(isNotification);
  if (named?.startsWith('req_')) {
    const { client, signal } = context;
    const request = await client().call('request_status', { request_id: named }, { signal });
    const found = asksAbout(request, entries);
    if (found) return { messageId: found.id, more: 0 };
    throw new CliError({
      code: 'NOT_FOUND',
      message: `No message here asks about ${named}.`,
      hint: 'Its people may have been asked by Telegram. List the messages: svc outbox list',
      exit: EXIT.nothing,
    });
  }
  if (named !== undefined) return null;
  const pending = await pendingRequests(context);
  const found = pending.map((one) => asksAbout(one, entries)).find((one) => one !== undefined);
  return found ? { messageId: found.id, more: pending.length - 1 } : null;
}

/** The newest first; none if they can't be read, because the messages can be opened without. */
async function pendingRequests({ client, signal }: CommandContext): Promise<readonly Request[]> {
  const options = { signal, timeoutMs: WITHIN_MS };
  try {
    return (await client().call('request_list', { status: 'pending' }, options)).items;
  } catch {
    return [];
  }
}

/** Mails name a request by its own words. Replies to them come later. */
function asksAbout(request: Request, entries: readonly OutboxEntry[]): OutboxEntry | undefined {
  const words = (request.question ?? request.summary).replaceAll(/\s+/g, ' ').trim();
  const start = words.slice(0, COMPARED_CHARS);
  return entries.find(({ subject }) => !subject.startsWith('Re: ') && subject.includes(start));
}
