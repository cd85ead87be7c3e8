import { ServiceError } from '../../../shared/lib/errors.ts';
import {
  isNotification,
  outboxHead,
  outboxIds,
  outboxMessage,
  type OutboxMessage,
} from '../../../shared/host/outbox.ts';
import type { Access } from './access.ts';
import type { WebInbox } from './inbox.ts';
import type { PageContext } from './page-context.ts';

const LIST_LENGTH = 50;

/**
 * Whether this is a machine that keeps mail, and the visitor may read it. The mail has links that decide in other people's
 * name, and the pages pass them on only to who could decide anyway.
 */
export function hasOutbox(inbox: WebInbox, { deciding, member }: Access): boolean {
  const mayRead = deciding === 'anybody' || member?.role === 'owner';
  return inbox.isLocal && inbox.outboxFolder !== null && mayRead;
}

interface Outbox {
  /** Each with the beginning of its text. */
  readonly messages: readonly OutboxMessage[];
  /** The number of messages before and on the next page; null on the last one. */
  readonly next: number | null;
}

/** This project's mail that was kept, the one written last first. */
export async function keptMail(context: PageContext, skip: number): Promise<Outbox> {
  const folder = folderOf(context);
  const ids = await ofProject(context, outboxIds(folder));
  const messages = ids
    .slice(skip, skip + LIST_LENGTH)
    .flatMap((id) => outboxHead(folder, id) ?? []);
  const end = skip + LIST_LENGTH;
  return { messages, next: end < ids.length ? end : null };
}

/** One whole message of this project. NOT_FOUND. */
export async function keptMessage(context: PageContext, id: string): Promise<OutboxMessage> {
  const known = await ofProject(context, [id]);
  const message = known.length === 0 ? null : outboxMessage(folderOf(context), id);
  if (!message) throw new ServiceError('NOT_FOUND');
  return message;
}

function folderOf({ inbox }: PageContext): string {
  if (inbox.outboxFolder === null) throw new ServiceError('NOT_FOUND');
  return inbox.outboxFolder;
}

/** The folder has the mail of all projects on this machine, and links to sign in. */
async function ofProject(
  { access }: PageContext,
  ids: readonly string[],
): Promise<readonly string[]> {
  const [notices, mails] = [true, false].map((isOurs) =>
    ids.filter((id) => isNotification({ id }) === isOurs),
  );
  const known = await access.project.store.read(async (store) => [
    ...(await store.notices.known(notices ?? [])),
    ...(await store.emails.known(mails ?? [])),
  ]);
  const here = new Set(known);
  return ids.filter((id) => here.has(id));
}
