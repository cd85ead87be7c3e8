import { isoTime } from '../../../../shared/lib/clock.ts';
import { endDigest } from './notice-budget.ts';
import { noticePause } from './notice-pause.ts';
import { comparableAddress, maskedAddress } from '../../../../shared/rules/mail/mail-address.ts';
import { actorNamed, OPERATOR, SERVICE, type PersonPlace } from '../../../../shared/rules/actor.ts';
import {
  effectiveRequestStatus,
  isStopped,
  type Choice,
  type RequestKind,
} from '../../../../shared/rules/requests/request-state.ts';
import { lastingResolution } from '../../../../shared/rules/requests/lasting.ts';
import { removeChannel } from '../../../../shared/operations/channel/removal.ts';
import { addressHashText, channelAad, telegramText } from '../../../../shared/operations/channel/view.ts';
import { withdrawChannel } from '../../../../shared/operations/channel/withdrawal.ts';
import { notify, notifyOver } from '../../../../shared/operations/request/notify.ts';
import { personOptions } from '../../../../shared/operations/channel/statement.ts';
import { withdrawVote } from '../../../../shared/operations/request/votes.ts';
import { texts } from '../../../../shared/operations/request/record.ts';
import { askOwners } from '../../../../shared/operations/member/ask-owners.ts';
import type { ApprovalContext } from '../../../../shared/kernel/context.ts';
import { resolveRequest } from '../../../../shared/operations/request/resolve.ts';
import type { ChannelRow } from '../../../../shared/store/tables/people/channels.ts';
import type { MemberRow } from '../../../../shared/store/tables/access/members.ts';
import type { TelegramChat } from '../../../approvals/approvals.ts';
import { approvalContext } from '../../context/approval-context.ts';
import { askedBy, stopThread } from './lasting.ts';
import type { Sent } from '../../../approvals/approvals.ts';
import type { Deletion, Job, Portion, Command } from '../../context/job.ts';
import { askToApply, proposalWith } from './propose.ts';
import { counted } from './vote.ts';

interface Decision {
  /** Hash of the link's or button's token. The transaction looks it up, because the link may just have been revoked. */
  readonly tokenHash: string;
  readonly choice: Choice;
  readonly place: PersonPlace;
  readonly now: number;
}

export type DecisionOutcome =
  | { readonly outcome: 'taken' | 'counted' | 'late' | 'gone' }
  | { readonly outcome: 'refused'; readonly problem: string };

/**
 * A person decides through a channel that got the request. The first decision wins; where several people must approve,
 * that's the last approval they need, or the first decision of another kind.
 */
export const decide: Command<Decision, DecisionOutcome> = {
  async run(job, { tokenHash, choice, place, now }) {
    const { store } = job;
    const asked = await askedBy(store, tokenHash);
    if (!asked) return { outcome: 'gone' };
    const { request, channel } = asked;
    const kind = request.kind as RequestKind;
    if (effectiveRequestStatus(request, now) !== 'pending') return { outcome: 'late' };
    const shown = { ...request, kind, options: texts(request.options) };
    const resolution = lastingResolution(shown, choice, now);
    if ('problem' in resolution) return { outcome: 'refused', problem: resolution.problem };
    const { id: channelId } = channel;
    const context = approvalContext(job, now, actorNamed(channelId, place));
    const proposal = await proposalWith(context, request, choice);
    if (proposal && 'problem' in proposal) return { outcome: 'refused', problem: proposal.problem };
    await store.channels.touch(channelId, isoTime(now));
    const decided = { ...resolution, decidedBy: `channel:${channelId}` };
    const how = await counted(context, request, { channelId, how: decided });
    if (how === null) return { outcome: 'counted' };
    if (!(await resolveRequest(context, request, how))) return { outcome: 'late' };
    if (proposal) await askToApply(context, request, proposal);
    if (isStopped(how.hint)) await stopThread(context, request, how.hint ?? '');
    return { outcome: 'taken' };
  },
};

/** Records requests that expired without a decision; returns how many. */
export const expireRequests: Command<Portion, number> = {
  async run(job, { now, limit }) {
    const { requests } = job.store;
    const rows = await requests.overdue(now, limit);
    for (const row of rows) {
      const how = { status: 'expired', decision: null, comment: null, decidedBy: null } as const;
      await resolveRequest(approvalContext(job, now, SERVICE), row, how);
    }
    // The others have ended.
    return rows.length + (await requests.endDamaged(now, limit));
  },
};

/**
 * Deletes expired confirmation links and their unconfirmed channels, because we don't keep an address whose owner
 * never agreed. Returns how many links it deleted.
 */
export const dropChannelLinks: Command<Deletion, number> = {
  async run(job, { now, asOf, limit }) {
    const { channels } = job.store;
    const links = await channels.expiredTokens(asOf, limit);
    for (const { token_hash, channel_id } of links) {
      await channels.deleteToken(token_hash);
      const channel = await channels.find(channel_id);
      if (channel?.status !== 'added') continue;
      await removeChannel(approvalContext(job, now, SERVICE), channel_id);
    }
    return links.length;
  },
};

/** The result of sending a notification. */
export type DeliveryResult = Sent | { readonly outcome: 'void'; readonly reason: string };

interface NotificationOutcome {
  readonly noticeId: string;
  readonly result: DeliveryResult;
  /** The notices that a digest is about. */
  readonly told?: readonly string[];
  readonly now: number;
}

/** Records the results of notifications to people. Many share one transaction. */
export const recordNotifications: Command<readonly NotificationOutcome[], null> = {
  async run(job, outcomes) {
    for (const result of outcomes) await recordNotification(job, result);
    return null;
  },
};

async function recordNotification(
  job: Job,
  { noticeId, result, told = [], now }: NotificationOutcome,
): Promise<void> {
  const { store, emit } = job;
  const notice = await store.notices.find(noticeId);
  if (!notice) return;
  const fail = async (reason: string): Promise<void> => {
    await store.notices.end(noticeId, 'failed', reason);
    if (notice.kind !== 'digest') return;
    await endDigest(job, notice, { ids: told, outcome: 'failed', messageId: null, reason, now });
  };
  if (notice.status !== 'queued') {
    if (result.outcome !== 'sent') return;
    await store.notices.sent(noticeId, result.messageId, isoTime(now));
    // A person decided while the notification was on its way, so remove its buttons.
    if (notice.kind === 'ask') await notifyOver(approvalContext(job, now, SERVICE), notice);
    return;
  }
  switch (result.outcome) {
    case 'sent': {
      const { messageId } = result;
      await store.notices.sent(noticeId, messageId, isoTime(now));
      if (notice.kind !== 'digest') return;
      return endDigest(job, notice, { ids: told, outcome: 'sent', messageId, reason: null, now });
    }
    case 'later': {
      const pauseMs = noticePause(notice.attempts + 1, result.retryAfterSeconds);
      if (pauseMs === null) return fail(result.reason);
      await store.notices.later(noticeId, now + pauseMs, result.reason);
      emit({ kind: 'due', at: now + pauseMs });
      return;
    }
    case 'refused':
      return fail(result.reason);
    case 'void':
      return store.notices.end(noticeId, 'void', result.reason);
  }
}

interface Owner {
  /** A fresh id, used if the project has no owner yet. */
  readonly channelId: string;
  readonly address: string;
  /** Who founds the project; absent where whoever runs the gateway says who owns it. */
  readonly founder?: { readonly memberId: string; readonly accountId: string };
  readonly now: number;
}

/**
 * Makes an email address the owner's. It needs no confirmation: the person runs the machine, or has signed in. Links
 * sent to the old address stop working, and pending requests go to the new address.
 */
export const setOwner: Command<Owner, null> = {
  async run(job, { channelId, address, founder, now }) {
    const { store, project, vault } = job;
    const actor = founder ? actorNamed(founder.memberId) : OPERATOR;
    const context = approvalContext(job, now, actor);
    const comparable = comparableAddress(address);
    const addressHash = vault.sign(addressHashText(project.id, comparable));
    const owner = await store.channels.owner();
    if (owner?.address_hash === addressHash) return null;
    const other = await store.channels.findByAddress(addressHash);
    if (other) await withdrawChannel(context, other.id);
    const nowIso = isoTime(now);
    const row: ChannelRow = {
      id: channelId,
      kind: 'email',
      label: 'owner',
      status: 'active',
      owner: 1,
      address: null,
      address_hash: null,
      masked: null,
      created_at: nowIso,
      created_by: null,
      verified_at: nowIso,
      activated_at: nowIso,
      last_used_at: null,
      person_of: null,
    };
    if (!owner) {
      await store.channels.insert(row);
      const { memberId = context.newId('mbr'), accountId = null } = founder ?? {};
      await store.members.insert(firstMember(row, accountId, memberId));
    }
    const { id } = owner ?? row;
    const sealed = vault.seal(channelAad(project.id, id), address);
    await store.channels.setAddress(id, {
      address: sealed,
      addressHash,
      masked: maskedAddress(address),
    });
    await context.record('channel.owner_set', id);
    if (owner) {
      // They were the browsers of the person before.
      await store.browsers.removeAll(id);
      await store.channels.forgetPerson(id);
      await askAnew(context, id);
    }
    return null;
  },
};

/** The first member; the address is with the channel. */
function firstMember(channel: ChannelRow, accountId: string | null, id: string): MemberRow {
  return {
    id,
    role: 'owner',
    status: 'active',
    account_id: accountId,
    channel_id: channel.id,
    address: null,
    address_hash: null,
    masked: null,
    invited_by: null,
    created_at: channel.created_at,
    joined_at: channel.created_at,
    token_at: null,
    expires_at: null,
  };
}

async function askAnew(context: ApprovalContext, channelId: string): Promise<void> {
  const { store, now } = context;
  await store.notices.endOfChannel(channelId);
  for (const { id: requestId, approvers } of await store.requests.pending(now)) {
    if (!texts(approvers).includes(channelId)) continue;
    await withdrawVote(context, requestId, channelId);
    await notify(context, { kind: 'ask', channelId, requestId });
  }
}

interface Confirmation {
  readonly tokenHash: string;
  /** The chat that opened the link; null for an email channel, which already has its address. */
  readonly telegram: TelegramChat | null;
  readonly now: number;
}

/**
 * A person confirmed an address or started a chat, so ask the owner to accept the channel. Returns the channel's id;
 * null if the link is invalid or another channel already has this chat.
 */
export const confirmChannel: Command<Confirmation, string | null> = {
  async run(job, { tokenHash, telegram, now }) {
    const { store, project, vault } = job;
    const channel = await store.channels.byToken(tokenHash, now);
    if (!channel || (channel.kind === 'telegram') !== (telegram !== null)) return null;
    if (channel.status !== 'added') return channel.id;
    if (telegram) {
      const { chatId, userId } = telegram;
      const address = JSON.stringify({ chatId, userId });
      const addressHash = vault.sign(addressHashText(project.id, telegramText(telegram)));
      if (await store.channels.findByAddress(addressHash)) return null;
      const sealed = vault.seal(channelAad(project.id, channel.id), address);
      await store.channels.setAddress(channel.id, { address: sealed, addressHash, masked: null });
    }
    await store.channels.setVerified(channel.id, isoTime(now));
    if (telegram) job.emit({ kind: 'members_changed' });
    const context = approvalContext(job, now, actorNamed(channel.id));
    await context.record('channel.verified', channel.id);
    await askOwner(context, channel, telegram?.name ?? null);
    return channel.id;
  },
};

async function askOwner(
  context: ApprovalContext,
  channel: ChannelRow,
  name: string | null,
): Promise<void> {
  const reach = channel.masked ? `${channel.kind} at ${channel.masked}` : channel.kind;
  await askOwners(context, {
    kind: 'channel',
    key_id: channel.created_by ?? '',
    subject: channel.id,
    action: 'channel_add',
    summary: `Let ${channel.label} decide, by ${reach}`,
    // The first person who opens the link gets the channel, so show the owner who that was.
    details: name === null ? null : `The name that Telegram shows: ${plainName(name)}`,
    options: JSON.stringify(personOptions(channel, await context.store.channels.list())),
  });
}

const NAME_CHARS_MAX = 200;

/** A name that a person chose, in a form that a row can hold. */
function plainName(name: string): string {
  const clean = name.toWellFormed().replaceAll('\0', '');
  return Array.from(clean).slice(0, NAME_CHARS_MAX).join('');
}
