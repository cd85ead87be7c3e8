import { hash } from 'node:crypto';
import { isoTime } from '../../lib/clock.ts';
import type { ApprovalContext } from '../../kernel/context.ts';
import { newToken } from '../../lib/ids.ts';
import type { BudgetOf } from '../../store/tables/people/notice-budgets.ts';
import type { NoticeKind, NoticeRow } from '../../store/tables/people/notices.ts';

type Notifying = Pick<ApprovalContext, 'store' | 'project' | 'vault' | 'now' | 'newId' | 'emit'>;

/** The additional data that binds a sealed link token to its notice. */
export function noticeAad(projectId: string, noticeId: string): string {
  return `notice|${projectId}|${noticeId}|token`;
}

/** Queues a notification to a channel about a request, for now unless `dueAt` is later. An `ask` notice gets its own link. */
export async function notify(
  context: Notifying,
  notification: {
    readonly kind: Exclude<NoticeKind, 'verify' | 'invite' | 'digest' | 'limited' | 'access'>;
    readonly channelId: string;
    readonly requestId: string;
    readonly dueAt?: number;
    /** The notice whose message is to be edited. */
    readonly about?: string;
  },
): Promise<void> {
  const { store, project, vault, now, newId, emit } = context;
  const { kind, channelId, requestId, dueAt = now, about } = notification;
  const id = newId('ntc');
  const token = kind === 'ask' ? newToken(project.id) : null;
  await store.notices.insert(
    {
      id,
      kind,
      channel_id: channelId,
      request_id: requestId,
      token: token && vault.seal(noticeAad(project.id, id), token),
      token_hash: token && hash('sha256', token),
      status: 'queued',
      attempts: 0,
      due_at: dueAt,
      created_at: isoTime(now),
    },
    about,
  );
  emit(dueAt > now ? { kind: 'due', at: dueAt } : { kind: 'notices_due' });
}

/** Removes the buttons from a Telegram message. Mails don't need this: the page behind their link shows the result. */
export async function notifyOver(
  context: Notifying,
  { id: about, channel_id: channelId, request_id: requestId }: NoticeRow,
): Promise<void> {
  const channel = await context.store.channels.find(channelId);
  if (channel?.kind !== 'telegram' || requestId === null) return;
  await notify(context, { kind: 'over', channelId, requestId, about });
}

/** Shows in the Telegram messages that asked who has approved so far. */
export async function notifyVoted(context: Notifying, requestId: string): Promise<void> {
  for (const notice of await context.store.notices.ofRequest(requestId)) {
    const { id: about, channel_id: channelId, channel_kind: channel, kind, status } = notice;
    if (kind !== 'ask' || status !== 'sent' || channel !== 'telegram') continue;
    await notify(context, { kind: 'voted', channelId, requestId, about });
  }
}

/** Tells a person what a `source.limited` event tells the inbox. */
export function notifyLimited(
  context: Notifying,
  channelId: string,
  eventId: string,
): Promise<void> {
  return notifyAbout(context, { kind: 'limited', channelId, about: eventId });
}

/** Tells an owner of a new member, key or route, by its id. */
export function notifyAccess(context: Notifying, channelId: string, id: string): Promise<void> {
  return notifyAbout(context, { kind: 'access', channelId, about: id });
}

async function notifyAbout(
  { store, now, newId, emit }: Notifying,
  {
    kind,
    channelId,
    about,
  }: {
    readonly kind: 'limited' | 'access';
    readonly channelId: string;
    readonly about: string;
  },
): Promise<void> {
  const unsent = { status: 'queued', attempts: 0, due_at: now, created_at: isoTime(now) };
  const row = { id: newId('ntc'), kind, channel_id: channelId, ...unsent } as const;
  await store.notices.insert({ ...row, request_id: null, token: null, token_hash: null }, about);
  emit({ kind: 'notices_due' });
}

/** Queues the notice that verifies an address, and replaces an earlier one that wasn't sent yet. */
export function notifyVerify(context: Notifying, channelId: string, token: string): Promise<void> {
  return notifyLink(context, { kind: 'verify', to: channelId, token });
}

/** Queues the mail of an invitation, and replaces an earlier one that wasn't sent yet. */
export function notifyInvited(context: Notifying, memberId: string, token: string): Promise<void> {
  return notifyLink(context, { kind: 'invite', to: memberId, token });
}

async function notifyLink(
  { store, project, vault, now, newId, emit }: Notifying,
  {
    kind,
    to,
    token,
  }: { readonly kind: 'verify' | 'invite'; readonly to: string; readonly token: string },
): Promise<void> {
  const id = newId('ntc');
  await store.notices.endLinks(to);
  await store.notices.insert({
    id,
    kind,
    channel_id: to,
    request_id: null,
    token: vault.seal(noticeAad(project.id, id), token),
    // `channel_token` or `member` finds this link.
    token_hash: null,
    status: 'queued',
    attempts: 0,
    due_at: now,
    created_at: isoTime(now),
  });
  emit({ kind: 'notices_due' });
}

/** Queues one message about all notices of a key that are held. */
export async function notifyDigest(
  { store, now, newId, emit }: Notifying,
  { channelId, keyId }: BudgetOf,
  dueAt: number,
): Promise<void> {
  await store.notices.insert(
    {
      id: newId('ntc'),
      kind: 'digest',
      channel_id: channelId,
      request_id: null,
      token: null,
      token_hash: null,
      status: 'queued',
      attempts: 0,
      due_at: dueAt,
      created_at: isoTime(now),
    },
    keyId,
  );
  emit({ kind: 'due', at: dueAt });
}
