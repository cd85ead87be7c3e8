import type { Vault } from '../../shared/kernel/context.ts';
import type { ChannelRow } from '../../shared/store/tables/people/channels.ts';
import { channelAad } from '../../shared/operations/channel/view.ts';

/** A private chat and the Telegram account in it. */
export interface TelegramAccount {
  readonly chatId: number;
  readonly userId: number;
}

/** Null unless the channel is a chat that somebody has started. */
export function chatOf(
  vault: Vault,
  projectId: string,
  { id, kind, address }: Pick<ChannelRow, 'id' | 'kind' | 'address'>,
): TelegramAccount | null {
  if (kind !== 'telegram' || !address) return null;
  const text = Buffer.from(vault.open(channelAad(projectId, id), address)).toString('utf8');
  return JSON.parse(text) as TelegramAccount;
}
