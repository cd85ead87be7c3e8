import { isoTime } from '../../../../shared/lib/clock.ts';
import { actorNamed, SERVICE } from '../../../../shared/rules/actor.ts';
import { removeChannel } from '../../../../shared/operations/channel/removal.ts';
import {
  addressHashText,
  channelAad,
  telegramText,
} from '../../../../shared/operations/channel/view.ts';
import { personOptions } from '../../../../shared/operations/channel/statement.ts';
import { askOwners } from '../../../../shared/operations/member/ask-owners.ts';
import type { ApprovalContext } from '../../../../shared/kernel/context.ts';
import type { ChannelRow } from '../../../../shared/store/tables/people/channels.ts';
import { approvalContext } from '../../context/approval-context.ts';
import type { Deletion, Command } from '../../context/job.ts';

export interface TelegramChat {
  readonly chatId: number;
  readonly userId: number;
  /** The name that Telegram shows, so that the owner sees whom they let in. */
  readonly name: string;
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
