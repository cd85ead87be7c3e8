import { isoTime } from '../../lib/clock.ts';
import type { ApprovalContext } from '../../kernel/context.ts';
import { CHANNEL_LABEL_MAX_CHARS } from '../../lib/limits.ts';
import { comparableAddress, maskedAddress } from '../../rules/mail/mail-address.ts';
import { removeChannel } from '../channel/removal.ts';
import type { MemberRow } from '../../store/tables/access/members.ts';
import { addressHashText, channelAad } from '../channel/view.ts';
import { memberAad } from './view.ts';

/**
 * Makes a member's address an active channel: they proved that they read it, and an owner gave them the role. A channel
 * that already decides there becomes theirs.
 */
export async function giveChannel(
  context: ApprovalContext,
  memberId: string,
  address: string,
): Promise<void> {
  const { store, project, vault, now, newId, record } = context;
  const addressHash = vault.sign(addressHashText(project.id, comparableAddress(address)));
  const known = await store.channels.findByAddress(addressHash);
  if (known?.status === 'active') return store.members.setChannel(memberId, known.id);
  if (known) await removeChannel(context, known.id);
  const id = newId('chn');
  const nowIso = isoTime(now);
  const masked = maskedAddress(address);
  await store.channels.insert({
    id,
    kind: 'email',
    label: masked.slice(0, CHANNEL_LABEL_MAX_CHARS),
    status: 'active',
    owner: 0,
    address: vault.seal(channelAad(project.id, id), address),
    address_hash: addressHash,
    masked,
    created_at: nowIso,
    created_by: memberId,
    verified_at: nowIso,
    activated_at: nowIso,
    last_used_at: null,
    person_of: null,
  });
  await store.members.setChannel(memberId, id);
  await record('channel.activated', id);
}

/** Takes a member's channel away: its links and buttons die, and its pending requests go to an owner. */
export async function takeChannel(context: ApprovalContext, member: MemberRow): Promise<void> {
  const { store } = context;
  const { id, channel_id: channelId } = member;
  if (channelId === null) return;
  await handOver(context, member);
  await keepAddress(context, id, channelId);
  await store.makers.reassign(channelId, id);
  await store.members.setChannel(id, null);
  await removeChannel(context, channelId);
}

/** Makes another owner's channel the owner's, if this member's is. */
export async function handOver(
  { store, record }: ApprovalContext,
  { id, channel_id: channelId }: MemberRow,
): Promise<void> {
  if (channelId === null || (await store.channels.owner())?.id !== channelId) return;
  const others = (await store.members.list()).filter(
    (one) => one.role === 'owner' && one.status === 'active' && one.id !== id && one.channel_id,
  );
  const next = others[0]?.channel_id;
  if (!next) return;
  await store.channels.moveOwner(channelId, next);
  await record('channel.owner_set', next);
}

/** The founder's address is only in their channel, which is about to go. */
async function keepAddress(
  { store, project, vault }: ApprovalContext,
  memberId: string,
  channelId: string,
): Promise<void> {
  const member = await store.members.find(memberId);
  const channel = await store.channels.find(channelId);
  if (!member || member.address || !channel?.address || !channel.address_hash) return;
  const plain = vault.open(channelAad(project.id, channelId), channel.address);
  await store.members.setAddress(memberId, {
    address: vault.seal(memberAad(project.id, memberId), plain),
    addressHash: channel.address_hash,
    masked: channel.masked ?? '',
  });
}

/** The address of a member; null if only their channel has it. */
export function addressOf(
  { project, vault }: Pick<ApprovalContext, 'project' | 'vault'>,
  member: MemberRow,
): string | null {
  if (!member.address) return null;
  const plain = vault.open(memberAad(project.id, member.id), member.address);
  return Buffer.from(plain).toString('utf8');
}
