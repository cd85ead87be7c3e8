import { decodeTextCursor, encodeCursor } from '../../../../../shared/lib/cursor.ts';
import { ServiceError } from '../../../../../shared/lib/errors.ts';
import { mayCall } from '../../../../../shared/lib/scopes.ts';
import { answersOf, type AnsweredMail } from '../../../../../shared/operations/email/answers.ts';
import {
  attachmentsOf,
  type StoredAttachment,
} from '../../../../../shared/operations/email/attachments.ts';
import { emailStatus } from '../../../../../shared/operations/email/status.ts';
import { toBatchView, type BatchView } from '../../../../../shared/operations/email/view.ts';
import { keptSince } from '../../../../../shared/rules/inbox/retention.ts';
import type {
  EmailBatchRow,
  EmailMessageRow,
  EmailStatus,
} from '../../../../../shared/store/tables/mail/emails.ts';
import type {
  ListedMail,
  MailCount,
  MailLine,
} from '../../../../../shared/store/tables/mail/mail-threads.ts';
import type { Repositories } from '../../../../../shared/store/repositories.ts';
import type { PageContext } from '../../page-context.ts';

const LIST_LENGTH = 30;
/** How many mails of each kind one page of the list looks at. */
const LIST_READ = 300;
const THREAD_LENGTH = 20;
const FIRST_PLACE = `${Number.MAX_SAFE_INTEGER} ~`;
const LATER_THAN_ALL = '~';

export type MailKind = 'received' | 'sent';

/** A mail that we sent, as a person sees it. */
export interface SentMail {
  readonly kind: 'sent';
  readonly id: string;
  readonly at: string;
  readonly subject: string;
  readonly from: string;
  readonly status: BatchView['status'];
  readonly requestId: string | null;
  readonly threadId: string | null;
  readonly messages: readonly SentMessage[];
  /** Null where it is deleted, or not for this session. */
  readonly content: SentContent | null;
  /** Whether the content is deleted, rather than kept from this session. */
  readonly isForgotten: boolean;
}

interface SentContent {
  readonly text: string;
  readonly html: string | null;
  readonly attachments: readonly StoredAttachment[];
  readonly answers: AnsweredMail | null;
}

export type SentMessage = BatchView['messages'][number] &
  Pick<EmailMessageRow, 'sent_at' | 'attempts' | 'due_at'>;

interface ReceivedMail {
  readonly kind: 'received';
  readonly at: string;
  readonly id: string;
}

/** A thread by its newest mail. */
export type ThreadLine = { readonly threadId: string } & (
  | { readonly kind: 'received'; readonly at: string; readonly line: MailLine }
  | { readonly kind: 'sent'; readonly at: string; readonly mail: SentMail }
);

/** Which kinds of mail the visitor may see. */
export function kindsFor({ access }: PageContext): readonly MailKind[] {
  const mayRead = mayCall(access.scopes, 'inbox:read');
  const maySend = mayCall(access.scopes, emailStatus.scope);
  return [...(mayRead ? (['received'] as const) : []), ...(maySend ? (['sent'] as const) : [])];
}

interface Threads {
  readonly lines: readonly ThreadLine[];
  readonly nextCursor: string | null;
}

/** The threads with mails of these kinds, the one with the newest mail first. */
export async function threadsOf(
  context: PageContext,
  kinds: readonly MailKind[],
): Promise<Threads> {
  const cursor = decodeTextCursor(context.query('cursor'), (text) =>
    /^\d{1,16} (?:bat_[0-9a-z]{26}|~)$/.test(text) ? null : 'Not a cursor.',
  );
  const [seq = '', batch = ''] = (cursor || FIRST_PLACE).split(' ');
  return context.access.project.store.read(async (store) => {
    const received = kinds.includes('received')
      ? await store.mailThreads.receivedBefore(Number(seq), LIST_READ)
      : [];
    const sent = kinds.includes('sent') ? await store.mailThreads.sentBefore(batch, LIST_READ) : [];
    const page = pageOf({ received, sent }, kinds, { received: seq, sent: batch });
    return { lines: await linesOf(context, store, page.shown), nextCursor: page.nextCursor };
  });
}

type Lists = Readonly<Record<MailKind, readonly ListedMail[]>>;
type Seen = ListedMail & { readonly kind: MailKind };

/** The newest mail of each thread, as far as both lists reach, and where the next page begins. */
function pageOf(
  lists: Lists,
  kinds: readonly MailKind[],
  start: Readonly<Record<MailKind, string>>,
) {
  // Beyond the end of a list that was cut, the other one would be shown without it.
  const horizon = [lists.received, lists.sent]
    .filter((list) => list.length === LIST_READ)
    .map((list) => list.at(-1)?.at ?? '')
    .toSorted()
    .at(-1);
  const all: Seen[] = [
    ...lists.received.map((one) => ({ ...one, kind: 'received' as const })),
    ...lists.sent.map((one) => ({ ...one, kind: 'sent' as const })),
  ]
    .filter(({ at }) => horizon === undefined || at >= horizon)
    .toSorted((a, b) => (a.at === b.at ? 0 : a.at < b.at ? 1 : -1));
  const place = { ...start };
  const shown = new Map<string, Seen>();
  let count = 0;
  for (const mail of all) {
    if (shown.size === LIST_LENGTH) break;
    count += 1;
    place[mail.kind] = mail.place;
    const thread = mail.thread_id ?? mail.id;
    if (!isSuperseded(mail, kinds) && !shown.has(thread)) shown.set(thread, mail);
  }
  const isMore = count < all.length || horizon !== undefined;
  const next = isMore ? encodeCursor(`${place.received} ${place.sent}`) : null;
  return { shown: [...shown.values()], nextCursor: next };
}

function isSuperseded(mail: ListedMail, kinds: readonly MailKind[]): boolean {
  if (mail.thread_id === null) return false;
  const byReceived = kinds.includes('received') && mail.newer_received === 1;
  return byReceived || (kinds.includes('sent') && mail.newer_sent === 1);
}

async function linesOf(
  context: PageContext,
  store: Repositories,
  mails: readonly Seen[],
): Promise<ThreadLine[]> {
  const ids = mails.filter(({ kind }) => kind === 'received').map(({ id }) => id);
  const found = await store.mailThreads.linesOf(ids, keptSince(context.now));
  const lines = new Map(found.map((line) => [line.id, line]));
  const shown = await Promise.all(
    mails.map(async ({ id, at, kind, thread_id }): Promise<ThreadLine | null> => {
      const threadId = thread_id ?? id;
      if (kind === 'sent') {
        const batch = await store.emails.findBatch(id);
        return batch ? { kind, at, threadId, mail: await sentMail(context, store, batch) } : null;
      }
      const line = lines.get(id);
      return line ? { kind, at, threadId, line } : null;
    }),
  );
  return shown.filter((line) => line !== null);
}

interface SentMails {
  readonly mails: readonly SentMail[];
  readonly nextCursor: string | null;
}

/** What calls sent, the newest first, as far as one of its messages is in this state. */
export async function sentInState(context: PageContext, state: EmailStatus): Promise<SentMails> {
  const cursor = decodeTextCursor(context.query('cursor'), (text) =>
    /^bat_[0-9a-z]{26}$/.test(text) ? null : 'Not a cursor.',
  );
  return context.access.project.store.read(async (store) => {
    const before = cursor || LATER_THAN_ALL;
    const ids = await store.mailThreads.sentInState(state, before, LIST_LENGTH + 1);
    const shown = ids.slice(0, LIST_LENGTH);
    const mails = await Promise.all(
      shown.map(async (id) => {
        const batch = await store.emails.findBatch(id);
        return batch ? [await sentMail(context, store, batch)] : [];
      }),
    );
    const last = shown.at(-1);
    return {
      // A request may have expired before any row says so.
      mails: mails.flat().filter((mail) => mail.messages.some(({ status }) => status === state)),
      nextCursor: ids.length > LIST_LENGTH && last !== undefined ? encodeCursor(last) : null,
    };
  });
}

/** How many sent mails are in each of these states. */
export function countSent(
  { access }: PageContext,
  states: readonly EmailStatus[],
): Promise<MailCount[]> {
  return access.project.store.read(({ mailThreads }) =>
    Promise.all(states.map((state) => mailThreads.countInState(state))),
  );
}

/** A thread, or a part of it: its mails, the oldest first. */
export interface Thread {
  readonly mails: readonly (ReceivedMail | SentMail)[];
  /** Before which time there are more; null if there are none. */
  readonly earlier: string | null;
}

/** NOT_FOUND. */
export async function threadOf(context: PageContext, threadId: string): Promise<Thread> {
  const kinds = kindsFor(context);
  const before = context.query('before') ?? LATER_THAN_ALL;
  const wanted = { threadId, before, limit: THREAD_LENGTH + 1 };
  const thread = await context.access.project.store.read(async (store) => {
    const received = kinds.includes('received')
      ? await store.mailThreads.idsIn('receivedIn', wanted)
      : [];
    const sent = kinds.includes('sent') ? await store.mailThreads.idsIn('sentIn', wanted) : [];
    const all = [
      ...received.map(({ id, at }) => ({ kind: 'received' as const, id, at })),
      ...sent.map(({ id, at }) => ({ kind: 'sent' as const, id, at })),
    ].toSorted((a, b) => (a.at === b.at ? 0 : a.at < b.at ? 1 : -1));
    const shown = all.slice(0, THREAD_LENGTH).toReversed();
    const mails = await Promise.all(
      shown.map(async (one) => {
        if (one.kind === 'received') return [{ kind: one.kind, id: one.id, at: one.at }];
        const batch = await store.emails.findBatch(one.id);
        return batch ? [await sentMail(context, store, batch)] : [];
      }),
    );
    const earlier = all.length > THREAD_LENGTH ? (shown[0]?.at ?? null) : null;
    return { mails: mails.flat(), earlier };
  });
  if (thread.mails.length === 0) throw new ServiceError('NOT_FOUND');
  return thread;
}

/** What one call sent. NOT_FOUND. */
export async function findSent(context: PageContext, batchId: string): Promise<SentMail> {
  if (!kindsFor(context).includes('sent')) throw new ServiceError('NOT_FOUND');
  const mail = await context.access.project.store.read(async (store) => {
    const batch = await store.emails.findBatch(batchId);
    return batch && sentMail(context, store, batch);
  });
  if (!mail) throw new ServiceError('NOT_FOUND');
  return mail;
}

async function sentMail(
  context: PageContext,
  store: Repositories,
  batch: EmailBatchRow,
): Promise<SentMail> {
  const view = await toBatchView(store, batch, context.now);
  const rows = new Map((await store.emails.messagesOf(batch.id)).map((row) => [row.id, row]));
  const isForgotten = batch.text === null;
  return {
    kind: 'sent',
    id: batch.id,
    at: batch.created_at,
    subject: batch.subject,
    from: batch.sender,
    status: view.status,
    requestId: batch.request_id,
    threadId: batch.thread_id,
    messages: view.messages.map((message) => {
      const row = rows.get(message.message_id);
      const { sent_at = null, attempts = 0, due_at = null } = row ?? {};
      return { ...message, sent_at, attempts, due_at };
    }),
    content: mayReadContent(context, batch) ? contentOf(batch) : null,
    isForgotten,
  };
}

/** The content names files: a key that is limited to prefixes reads only that of its own mails. */
function mayReadContent({ access }: PageContext, { key_id: keyId }: EmailBatchRow): boolean {
  return access.diskPrefixes === null || keyId === access.actor;
}

function contentOf(batch: EmailBatchRow): SentContent | null {
  const { text, html } = batch;
  if (text === null) return null;
  return { text, html, attachments: attachmentsOf(batch), answers: answersOf(batch) };
}
/** The mail of a request to send one; null if there is none, or the visitor may not see sent mail. */
export async function sentByRequest(
  context: PageContext,
  requestId: string,
): Promise<SentMail | null> {
  if (!kindsFor(context).includes('sent')) return null;
  return context.access.project.store.read(async (store) => {
    const batch = await store.emails.findByRequest(requestId);
    return batch ? sentMail(context, store, batch) : null;
  });
}
