import * as z from 'zod';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { keptMailLink, type KeptMailPart } from '../../../../../shared/kernel/links.ts';
import { ServiceError } from '../../../../../shared/lib/errors.ts';
import { DOWNLOAD_LINK_SECONDS } from '../../../../../shared/lib/limits.ts';
import {
  isNotification,
  outboxHead,
  outboxIds,
  outboxMessage,
  type OutboxMessage,
} from '../../../../../shared/host/outbox.ts';
import type { Access } from '../../session/access.ts';
import type { WebInbox } from '../../inbox.ts';
import type { PageContext } from '../../page-context.ts';
import { pageRead } from '../../page-read.ts';

const LIST_LENGTH = 50;
/** How many messages are read before other work gets a turn. */
const READ_AT_ONCE = 20;

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
  /** Where the next page begins; null on the last one. */
  readonly next: number | null;
}

/** Whom a kept mail is from: the service, which writes to people, or an agent. */
export type KeptKind = 'people' | 'agents';

/** What somebody looks for in the outbox; undefined fields don't filter. */
export interface OutboxQuery {
  readonly kind?: KeptKind | undefined;
  /** Part of an address, the subject or the beginning of the text. */
  readonly q?: string | undefined;
}

/** This project's mail that was kept, the one written last first, from the one with this number on. */
export async function keptMails(
  context: PageContext,
  { kind, q }: OutboxQuery,
  skip: number,
): Promise<Outbox> {
  const folder = folderOf(context);
  const ids = (await context.read(ofProject, { ids: outboxIds(folder) })).filter(
    (id) => kind === undefined || isNotification({ id }) === (kind === 'people'),
  );
  const messages: OutboxMessage[] = [];
  let at = skip;
  for (; at < ids.length && messages.length < LIST_LENGTH; at += 1) {
    // The folder has up to 1,000 mails; reading them must not hold up everything else.
    if ((at - skip) % READ_AT_ONCE === READ_AT_ONCE - 1) await nextTurn();
    const message = outboxHead(folder, ids[at] ?? '');
    if (message && isWanted(message, q)) messages.push(message);
  }
  return { messages, next: at < ids.length ? at : null };
}

function isWanted({ to, cc, deliveredTo, subject, text }: OutboxMessage, q?: string): boolean {
  if (q === undefined) return true;
  const searched = [to, cc, deliveredTo ?? '', subject, text].join('\n').toLowerCase();
  return q
    .toLowerCase()
    .split(/\s+/)
    .every((word) => searched.includes(word));
}

/** A link to a part of a message, valid for 5 to 10 minutes. It stays the same for 5 minutes, so that a refresh changes nothing. */
export function partUrl({ inbox, project, now }: PageContext, kept: KeptMailPart): string {
  const span = DOWNLOAD_LINK_SECONDS * 1000;
  const expiresAt = (Math.floor(now / span) + 2) * span;
  return keptMailLink(inbox, project.id, kept, expiresAt);
}

/** One whole message of this project. NOT_FOUND. */
export async function keptMessage(context: PageContext, id: string): Promise<OutboxMessage> {
  const known = await context.read(ofProject, { ids: [id] });
  const message = known.length === 0 ? null : outboxMessage(folderOf(context), id);
  if (!message) throw new ServiceError('NOT_FOUND');
  return message;
}

function folderOf({ inbox }: PageContext): string {
  if (inbox.outboxFolder === null) throw new ServiceError('NOT_FOUND');
  return inbox.outboxFolder;
}

/** The folder has the mail of all projects on this machine, and links to sign in. */
const ofProject = pageRead('admin', { ids: z.array(z.string()) }, async ({ store }, { ids }) => {
  const known = new Set([...(await store.notices.known(ids)), ...(await store.emails.known(ids))]);
  return ids.filter((id) => known.has(id));
});
