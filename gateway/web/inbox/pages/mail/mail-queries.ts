import * as z from 'zod';
import type { ReadContext } from '../../../../../shared/kernel/context.ts';
import { mayReadNames } from '../../../../../shared/kernel/disk-limit.ts';
import { decodeIdCursor, encodeCursor } from '../../../../../shared/lib/cursor.ts';
import { ServiceError } from '../../../../../shared/lib/errors.ts';
import { answersOf, type AnsweredMail } from '../../../../../shared/operations/email/answers.ts';
import {
  attachmentsOf,
  type StoredAttachment,
} from '../../../../../shared/operations/email/attachments.ts';
import { toBatchView, type BatchView } from '../../../../../shared/operations/email/view.ts';
import { keptSince } from '../../../../../shared/rules/inbox/retention.ts';
import type {
  EmailBatchRow,
  EmailMessageRow,
} from '../../../../../shared/store/tables/mail/emails.ts';
import type { ListedMail, MailLine } from '../../../../../shared/store/tables/mail/mail-threads.ts';
import type { PageContext } from '../../page-context.ts';
import { pageRead } from '../../page-read.ts';

const LIST_LENGTH = 30;
/** How many mails of each kind one page of the list looks at. */
const LIST_READ = 300;
const THREAD_LENGTH = 20;
const FIRST_PLACE = `${Number.MAX_SAFE_INTEGER} ~`;
const LATER_THAN_ALL = '~';
const IDS = z.array(z.string());

/** The states in the order of a mail's way. */
export const SENT_STATES = ['pending', 'queued', 'sent', 'bounced', 'failed', 'cancelled'] as const;

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

const BEFORE = { before: z.string() };

/** The mails of each kind before a place. */
const MAILS = {
  received: pageRead('inbox:read', BEFORE, ({ store }, { before }) =>
    store.mailThreads.receivedBefore(Number(before), LIST_READ),
  ),
  sent: pageRead('send', BEFORE, ({ store }, { before }) =>
    store.mailThreads.sentBefore(before, LIST_READ),
  ),
};

const IN_THREAD = { threadId: z.string(), before: z.string() };
const receivedInThread = pageRead('inbox:read', IN_THREAD, ({ store }, of) =>
  store.mailThreads.idsIn('receivedIn', { ...of, limit: THREAD_LENGTH + 1 }),
);
const sentInThread = pageRead('send', IN_THREAD, ({ store }, of) =>
  store.mailThreads.idsIn('sentIn', { ...of, limit: THREAD_LENGTH + 1 }),
);

const receivedLines = pageRead('inbox:read', { ids: IDS }, ({ store, now }, { ids }) =>
  store.mailThreads.linesOf(ids, keptSince(now)),
);

const sentMails = pageRead('send', { ids: IDS }, async (context, { ids }) => {
  const batches = await Promise.all(ids.map((id) => context.store.emails.findBatch(id)));
  return sentOf(context, batches);
});

/** Which kinds of mail the visitor may see. */
export function kindsFor({ may }: PageContext): readonly MailKind[] {
  return (['received', 'sent'] as const).filter((kind) => may(MAILS[kind]));
}

/** The threads with mails of these kinds, the one with the newest mail first; and where the next page begins. */
export async function threadsOf(context: PageContext, kinds: readonly MailKind[]) {
  const cursor = decodeIdCursor(context.query('cursor'), /^\d{1,16} (?:bat_[0-9a-z]{26}|~)$/);
  const [received = '', sent = ''] = (cursor || FIRST_PLACE).split(' ');
  const start = { received, sent };
  const of = async (kind: MailKind) =>
    kinds.includes(kind) ? context.read(MAILS[kind], { before: start[kind] }) : [];
  const lists = { received: await of('received'), sent: await of('sent') };
  const { shown, nextCursor } = pageOf(lists, kinds, start);
  return { lines: await linesOf(context, shown), nextCursor };
}

type Lists = Readonly<Record<MailKind, readonly ListedMail[]>>;
type MailRow = ListedMail & { readonly kind: MailKind };

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
  const all: MailRow[] = [
    ...lists.received.map((one) => ({ ...one, kind: 'received' as const })),
    ...lists.sent.map((one) => ({ ...one, kind: 'sent' as const })),
  ]
    .filter(({ at }) => horizon === undefined || at >= horizon)
    .toSorted((a, b) => (a.at === b.at ? 0 : a.at < b.at ? 1 : -1));
  const place = { ...start };
  const shown = new Map<string, MailRow>();
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

async function linesOf(context: PageContext, mails: readonly MailRow[]): Promise<ThreadLine[]> {
  const lines = byId(await context.read(receivedLines, { ids: idsOf(mails, 'received') }));
  const sent = await sentById(context, mails);
  return mails.flatMap(({ id, at, kind, thread_id: thread }): ThreadLine[] => {
    const threadId = thread ?? id;
    if (kind === 'sent') {
      const mail = sent.get(id);
      return mail ? [{ kind, at, threadId, mail }] : [];
    }
    const line = lines.get(id);
    return line ? [{ kind, at, threadId, line }] : [];
  });
}

function idsOf(mails: readonly Pick<MailRow, 'id' | 'kind'>[], of: MailKind): string[] {
  return mails.filter(({ kind }) => kind === of).map(({ id }) => id);
}

/** The mails that we sent among these, as far as the visitor may see them. */
async function sentById(context: PageContext, mails: readonly Pick<MailRow, 'id' | 'kind'>[]) {
  return byId((await context.readOrNull(sentMails, { ids: idsOf(mails, 'sent') })) ?? []);
}

function byId<T extends { readonly id: string }>(all: readonly T[]): ReadonlyMap<string, T> {
  return new Map(all.map((one) => [one.id, one]));
}

/** What calls sent, the newest first, as far as one of its messages is in this state; and where the next page begins. */
export const sentInState = pageRead(
  'send',
  { state: z.enum(SENT_STATES), cursor: z.string().optional() },
  async (context, { state, cursor }) => {
    const { emails, mailThreads } = context.store;
    const before = decodeIdCursor(cursor, /^bat_[0-9a-z]{26}$/);
    const ids = await mailThreads.sentInState(state, before || LATER_THAN_ALL, LIST_LENGTH + 1);
    const shown = ids.slice(0, LIST_LENGTH);
    const mails = await sentOf(context, await Promise.all(shown.map((id) => emails.findBatch(id))));
    const last = shown.at(-1);
    return {
      // A request may have expired before any row says so.
      mails: mails.filter(({ messages }) => messages.some(({ status }) => status === state)),
      nextCursor: ids.length > LIST_LENGTH && last !== undefined ? encodeCursor(last) : null,
    };
  },
);

/** How many sent mails are in each of the states. */
export const countSent = pageRead('send', {}, ({ store }) =>
  Promise.all(SENT_STATES.map((state) => store.mailThreads.countInState(state))),
);

/** A thread, or a part of it: its mails, the oldest first. */
export interface Thread {
  readonly mails: readonly (ReceivedMail | SentMail)[];
  /** Before which time there are more; null if there are none. */
  readonly earlier: string | null;
}

/** NOT_FOUND. */
export async function threadOf(context: PageContext, threadId: string): Promise<Thread> {
  const input = { threadId, before: context.query('before') ?? LATER_THAN_ALL };
  const received = await context.read(receivedInThread, input);
  const sent = (await context.readOrNull(sentInThread, input)) ?? [];
  const all = [
    ...received.map((one) => ({ ...one, kind: 'received' as const })),
    ...sent.map((one) => ({ ...one, kind: 'sent' as const })),
  ].toSorted((a, b) => (a.at === b.at ? 0 : a.at < b.at ? 1 : -1));
  const shown = all.slice(0, THREAD_LENGTH).toReversed();
  const known = await sentById(context, shown);
  const mails = shown.flatMap((one): Thread['mails'] =>
    one.kind === 'received' ? [one] : [known.get(one.id) ?? []].flat(),
  );
  if (mails.length === 0) throw new ServiceError('NOT_FOUND');
  return { mails, earlier: all.length > THREAD_LENGTH ? (shown[0]?.at ?? null) : null };
}

/** What one call sent. NOT_FOUND. */
export async function findSent(context: PageContext, batchId: string): Promise<SentMail> {
  const [mail] = (await context.readOrNull(sentMails, { ids: [batchId] })) ?? [];
  if (!mail) throw new ServiceError('NOT_FOUND');
  return mail;
}

/** The mail of a request to send one; null if there is none. */
export const sentByRequest = pageRead('send', { id: z.string() }, async (context, { id }) => {
  const [mail = null] = await sentOf(context, [await context.store.emails.findByRequest(id)]);
  return mail;
});

async function sentOf(
  { store, caller, now }: ReadContext,
  batches: readonly (EmailBatchRow | undefined)[],
): Promise<SentMail[]> {
  const found = batches.filter((batch) => batch !== undefined);
  return Promise.all(
    found.map(async (batch): Promise<SentMail> => {
      const view = await toBatchView(store, batch, now);
      const rows = byId(await store.emails.messagesOf(batch.id));
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
          const {
            sent_at = null,
            attempts = 0,
            due_at = null,
          } = rows.get(message.message_id) ?? {};
          return { ...message, sent_at, attempts, due_at };
        }),
        content: mayReadNames(caller, batch.key_id) ? contentOf(batch) : null,
        isForgotten: batch.text === null,
      };
    }),
  );
}

function contentOf(batch: EmailBatchRow): SentContent | null {
  const { text, html } = batch;
  if (text === null) return null;
  return { text, html, attachments: attachmentsOf(batch), answers: answersOf(batch) };
}
