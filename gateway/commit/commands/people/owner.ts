import { isoTime } from '../../../../shared/lib/clock.ts';
import { comparableAddress, maskedAddress } from '../../../../shared/rules/mail/mail-address.ts';
import { actorNamed, OPERATOR } from '../../../../shared/rules/actor.ts';
import { addressHashText, channelAad } from '../../../../shared/operations/channel/view.ts';
import { withdrawChannel } from '../../../../shared/operations/channel/withdrawal.ts';
import { notify } from '../../../../shared/operations/request/notify.ts';
import { withdrawVote } from '../../../../shared/operations/request/votes.ts';
import { texts } from '../../../../shared/operations/request/record.ts';
import type { ApprovalContext } from '../../../../shared/kernel/context.ts';
import type { ChannelRow } from '../../../../shared/store/tables/people/channels.ts';
import type { MemberRow } from '../../../../shared/store/tables/access/members.ts';
import { approvalContext } from '../../context/approval-context.ts';
import type { Command } from '../../context/job.ts';

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
