import type { Clock } from '../../shared/lib/clock.ts';
import type { Vault } from '../../shared/kernel/context.ts';
import { channelAad } from '../../shared/operations/channel/view.ts';
import { memberAad } from '../../shared/operations/member/view.ts';
import { noticeAad } from '../../shared/operations/request/notify.ts';
import { isMuted } from '../../shared/rules/requests/notice-budget.ts';
import type { ChannelKind, ChannelRow } from '../../shared/store/tables/people/channels.ts';
import type { ChannelNotice, NoticeRow } from '../../shared/store/tables/people/notices.ts';
import type { Repositories } from '../../shared/store/repositories.ts';
import { SendQueue, type SendingProject } from '../projects/send-queue.ts';
import type { DeliveryResult } from '../commit/commands/people/notifications.ts';
import type { InputOf } from '../commit/commands.ts';
import type { ProjectWrites } from '../commit/thread/writers.ts';
import type { Carrier, DigestItem, LimitedView, Notification, OpenedRequest } from './approvals.ts';
import { accessViewFor } from './access-view.ts';
import { channelViewFor, invitationViewFor, openedFor } from './view.ts';

/** Shows a person's messages in their browsers as well. */
export interface BrowserNotices {
  /** Resolves when it has tried; it isn't repeated. */
  show(project: SendingProject, channelId: string, notification: Notification): Promise<void>;
}

export interface NotificationQueueDeps {
  readonly clock: Clock;
  readonly vault: Vault;
  /** Ways to reach people; the queue retries kinds that are missing. */
  readonly carriers: Partial<Readonly<Record<ChannelKind, Carrier>>>;
  /** Whether messages through this kind of channel are counted: not where they stay in a folder of this machine. */
  readonly isCounted: (kind: ChannelKind) => boolean;
  /** Missing in tests of other ways. */
  readonly browsers?: BrowserNotices;
}

/** The notification that a row asks for, or why we can't send it, now or ever. */
type NotificationDraft =
  | {
      readonly notification: Notification;
      readonly to: string;
      readonly carrier: Carrier;
      /** The notices that a digest is about. */
      readonly told?: readonly string[];
    }
  | Void
  | { readonly later: string };

interface Void {
  readonly void: string;
}

interface Attempt {
  readonly result: DeliveryResult;
  /** The notices that a digest is about. */
  readonly told?: readonly string[];
}

const TAKEN_BACK: Void = { void: 'It was taken back.' };
const NOT_ASKED: Void = { void: 'No message was sent.' };
const NOTHING_HELD: Void = { void: 'Nothing is left to tell.' };
/** A message to a person; the others edit one, or verify an address. */
const MESSAGES: readonly NoticeRow['kind'][] = ['ask', 'tell', 'outcome', 'digest'];

/**
 * Sends the queued notifications of one project. It builds the text at the time of sending, so it doesn't ask about a
 * request that was decided meanwhile. After a crash between sending and recording, it sends again under the same id.
 */
export class NotificationQueue extends SendQueue<NoticeRow> {
  readonly #project: SendingProject;
  readonly #deps: NotificationQueueDeps;
  /** Results of sent notifications that aren't recorded yet. */
  readonly #unwritten = new Map<string, Attempt>();

  constructor(project: SendingProject, deps: NotificationQueueDeps) {
    super(project, deps.clock);
    this.#project = project;
    this.#deps = deps;
  }

  protected override due(store: Repositories, now: number, limit: number): Promise<NoticeRow[]> {
    return store.notices.due(now, limit);
  }

  protected override claim(
    writes: ProjectWrites,
    claim: InputOf<'claimNotices'>,
  ): Promise<NoticeRow[]> {
    return writes.run('claimNotices', claim);
  }

  protected override async send(notice: NoticeRow): Promise<void> {
    const { id: noticeId } = notice;
    const earlier = this.#unwritten.get(noticeId);
    if (!earlier && !(await this.#isAdmitted(notice))) return;
    const attempt = earlier ?? (await this.#resultOf(notice));
    if (attempt.result.outcome === 'sent') this.#unwritten.set(noticeId, attempt);
    const now = this.#deps.clock.now();
    await this.#project.writes.run('recordNotifications', [{ noticeId, ...attempt, now }]);
    this.#unwritten.delete(noticeId);
  }

  /** Whether it may be sent now. Where nothing is counted and nobody is muted, that needs no write. */
  async #isAdmitted({ id: noticeId, kind, channel_id, request_id }: NoticeRow): Promise<boolean> {
    if (!MESSAGES.includes(kind)) return true;
    const now = this.#deps.clock.now();
    const seen = await this.#project.store.read(async (store) => {
      const channel = await store.channels.find(channel_id);
      const keyId = (await store.requests.find(request_id ?? ''))?.key_id ?? '';
      const budget = await store.noticeBudgets.find({ channelId: channel_id, keyId });
      return { kind: channel?.kind ?? 'email', isMuted: isMuted(budget, now) };
    });
    const isCounted = this.#deps.isCounted(seen.kind);
    if (!isCounted && !seen.isMuted && kind !== 'digest') return true;
    return this.#project.writes.run('admitNotice', { noticeId, isCounted, now });
  }

  /** A notification that can't be built counts as one that can't be sent, so that it doesn't block others. */
  async #resultOf(notice: NoticeRow): Promise<Attempt> {
    try {
      const { result, told } = await this.#send(notice);
      const clean =
        result.outcome === 'sent' ? result : { ...result, reason: withoutAddresses(result.reason) };
      return { result: clean, ...(told && { told }) };
    } catch (error) {
      // Logs the error.
      this.#project.inBackground(() => Promise.reject(error));
      const name = error instanceof Error ? error.name : 'unknown';
      const reason = `It could not be made (${name}).`;
      return { result: { outcome: 'later', retryAfterSeconds: null, reason } };
    }
  }

  async #send(notice: NoticeRow): Promise<Attempt> {
    const made = await this.#project.store.read(async (store) => {
      // Read it again: it may have been withdrawn since it was found due, and its link may be dead.
      const current = await store.notices.find(notice.id);
      return current?.status === 'queued' ? this.#make(store, current) : TAKEN_BACK;
    });
    if ('void' in made) return { result: { outcome: 'void', reason: made.void } };
    if ('later' in made) {
      return { result: { outcome: 'later', retryAfterSeconds: null, reason: made.later } };
    }
    const { notification, to, carrier, told } = made;
    // Nobody waits for the push, and a later attempt at this message doesn't repeat it.
    if (notice.attempts === 0) {
      this.#project.inBackground(async () =>
        this.#deps.browsers?.show(this.#project, notice.channel_id, notification),
      );
    }
    const result = await carrier.send(notification, { address: to, id: notice.id });
    return { result, ...(told && { told }) };
  }

  async #make(store: Repositories, notice: NoticeRow): Promise<NotificationDraft> {
    if (notice.kind === 'invite') return this.#invitation(store, notice);
    const channel = await store.channels.find(notice.channel_id);
    if (!channel?.address) return { void: 'The channel was removed.' };
    const carrier = this.#deps.carriers[channel.kind];
    // The next start's settings may name one again.
    if (!carrier) return { later: 'There is no way to reach this kind of channel.' };
    const to = this.#addressOf(channel);
    if (notice.kind === 'verify') {
      if (channel.status !== 'added') return { void: 'The address is confirmed.' };
      const view = channelViewFor(channel, this.#project.info);
      return {
        notification: { kind: 'verify', channel: view, token: this.#tokenOf(notice) },
        to,
        carrier,
      };
    }
    if (notice.kind === 'digest') {
      const digest = await this.#digest(store, notice, channel);
      return 'void' in digest ? digest : { ...digest, to, carrier };
    }
    const notification = await this.#notification(store, notice, channel);
    return 'void' in notification ? notification : { notification, to, carrier };
  }

  async #notification(
    store: Repositories,
    notice: NoticeRow,
    channel: ChannelRow,
  ): Promise<Notification | Void> {
    if (notice.kind === 'limited') return this.#limited(store, notice);
    if (notice.kind !== 'access') return this.#about(store, notice, channel);
    const access = await accessViewFor(store, this.#project.info, notice.about ?? '');
    return access ? { kind: 'access', access } : { void: 'It has ended.' };
  }

  async #invitation(store: Repositories, notice: NoticeRow): Promise<NotificationDraft> {
    const member = await store.members.find(notice.channel_id);
    const carrier = this.#deps.carriers.email;
    if (member?.status !== 'invited' || !member.address) return TAKEN_BACK;
    if (!carrier) return { later: 'There is no way to send mail.' };
    const { info } = this.#project;
    const aad = memberAad(info.id, member.id);
    const to = Buffer.from(this.#deps.vault.open(aad, member.address)).toString('utf8');
    const invitation = await invitationViewFor(store, member, info);
    return {
      notification: { kind: 'invite', invitation, token: this.#tokenOf(notice) },
      to,
      carrier,
    };
  }

  async #about(
    store: Repositories,
    notice: NoticeRow,
    channel: ChannelRow,
  ): Promise<Notification | Void> {
    const row = await store.requests.find(notice.request_id ?? '');
    if (!row) return { void: 'The request is gone.' };
    const now = this.#deps.clock.now();
    const { vault } = this.#deps;
    const opened = await openedFor(store, this.#project.info, { row, channel, now, vault });
    switch (notice.kind) {
      case 'tell':
        return { kind: 'tell', opened };
      case 'check':
        if (opened.request.outcome?.kind !== 'idle') return { void: 'The event was taken up.' };
        return this.#over(store, opened, notice);
      case 'over':
        return this.#over(store, opened, notice);
      case 'outcome':
        return this.#outcome(store, opened);
      default:
        if (opened.request.status !== 'pending') return { void: 'It is decided.' };
        if (notice.kind === 'voted') return this.#voted(store, opened, notice);
        if (opened.votedAt !== null) return { void: 'They approved already.' };
        return this.#ask(store, opened, notice);
    }
  }

  /** Everything of a key that's waiting for this person right now. A reminder adds nothing to its request. */
  async #digest(
    store: Repositories,
    { about: key }: NoticeRow,
    channel: ChannelRow,
  ): Promise<{ notification: Notification; told: readonly string[] } | Void> {
    const keyId = key ?? '';
    const held = await store.notices.held(channel.id, keyId);
    if (held.length === 0) return NOTHING_HELD;
    const { info } = this.#project;
    const { vault } = this.#deps;
    const now = this.#deps.clock.now();
    const items = new Map<string, DigestItem>();
    for (const notice of held) {
      const row = await store.requests.find(notice.request_id ?? '');
      if (!row || items.has(row.id)) continue;
      const opened = await openedFor(store, info, { row, channel, now, vault });
      const token = notice.token && this.#tokenOf(notice);
      items.set(row.id, { kind: notice.kind === 'ask' ? 'ask' : 'tell', opened, token });
    }
    const keyName = (await store.keys.find(keyId))?.name ?? '';
    const about = { project: info, channel, keyName };
    const notification = { kind: 'digest', ...about, items: [...items.values()] } as const;
    return { notification, told: held.map(({ id }) => id) };
  }

  async #limited(store: Repositories, { about }: NoticeRow): Promise<Notification | Void> {
    const event =
      about === null ? undefined : await store.events.findWhole(about, this.#deps.clock.now());
    if (!event?.body) return { void: 'The event is gone.' };
    const { source, kind, limit } = JSON.parse(Buffer.from(event.body).toString('utf8')) as Omit<
      LimitedView,
      'project'
    >;
    return { kind: 'limited', limited: { source, kind, limit, project: this.#project.info } };
  }

  async #ask(store: Repositories, opened: OpenedRequest, notice: NoticeRow): Promise<Notification> {
    const earlier = (await asksTo(store, opened)).find(({ message_id }) => message_id !== null);
    const remindsOf = earlier?.message_id;
    const follows = await firstOfThread(store, opened);
    return {
      kind: 'ask',
      opened,
      token: this.#tokenOf(notice),
      ...(remindsOf && { remindsOf }),
      ...(follows !== null && { follows }),
    };
  }

  async #over(
    store: Repositories,
    opened: OpenedRequest,
    { about }: NoticeRow,
  ): Promise<Notification | Void> {
    const asks = await asksTo(store, opened);
    // Notices of an earlier release name none; they asked once.
    const messageId = (asks.find(({ id }) => id === about) ?? asks[0])?.message_id;
    return messageId ? { kind: 'over', opened, messageId } : NOT_ASKED;
  }

  async #voted(
    store: Repositories,
    opened: OpenedRequest,
    { about }: NoticeRow,
  ): Promise<Notification | Void> {
    const asked = (await asksTo(store, opened)).find(({ id }) => id === about);
    if (!asked?.message_id || !asked.token) return NOT_ASKED;
    const { message_id: messageId } = asked;
    return { kind: 'voted', opened, messageId, token: this.#tokenOf(asked) };
  }

  async #outcome(store: Repositories, opened: OpenedRequest): Promise<Notification | Void> {
    const { outcome } = opened.request;
    if (outcome === null || outcome.kind === 'idle') return { void: 'The event is open again.' };
    // The newest link is the one that works.
    const asked = (await asksTo(store, opened)).findLast(
      ({ token, message_id }) => token !== null && message_id !== null,
    );
    if (!asked?.message_id) return NOT_ASKED;
    const { message_id: messageId } = asked;
    return { kind: 'outcome', opened, outcome, messageId, token: this.#tokenOf(asked) };
  }

  #tokenOf({ id, token }: NoticeRow): string {
    if (!token) throw new Error(`The notification ${id} has no link.`);
    const aad = noticeAad(this.#project.info.id, id);
    return Buffer.from(this.#deps.vault.open(aad, token)).toString('utf8');
  }

  /** Returns the email address or the chat id. */
  #addressOf(channel: ChannelRow): string {
    const aad = channelAad(this.#project.info.id, channel.id);
    const sealed = channel.address ?? new Uint8Array();
    const text = Buffer.from(this.#deps.vault.open(aad, sealed)).toString('utf8');
    if (channel.kind === 'email') return text;
    return String((JSON.parse(text) as { chatId: number }).chatId);
  }
}

/** The notices that asked about a request through its channel, oldest first. */
async function asksTo(
  store: Repositories,
  { request, channel }: OpenedRequest,
): Promise<ChannelNotice[]> {
  const notices = await store.notices.ofRequest(request.id);
  return notices.filter(({ kind, channel_id }) => kind === 'ask' && channel_id === channel.id);
}

/** The channel's first message about the request's thread; null if there's none. */
async function firstOfThread(
  { threads }: Repositories,
  { request, channel }: OpenedRequest,
): Promise<string | null> {
  const { thread, keyId } = request;
  return thread && threads.firstMessage(channel.id, { keyId, thread: thread.name });
}

/** Removes addresses and long tokens, because rows travel to replicas, and a mail server's reply may quote the mail. */
function withoutAddresses(reason: string): string {
  return reason.replaceAll(/[^\s<>"'(),;:]+@[^\s<>"'(),;:]+|[0-9A-Za-z]{32,}/g, '…');
}
