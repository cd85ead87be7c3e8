import type { Vault } from '../../shared/kernel/context.ts';
import { channelAad } from '../../shared/operations/channel/view.ts';
import { memberAad } from '../../shared/operations/member/view.ts';
import { comparableAddress } from '../../shared/rules/mail/mail-address.ts';
import type { ChannelRow } from '../../shared/store/tables/people/channels.ts';
import type { MemberRow } from '../../shared/store/tables/access/members.ts';
import type { Project } from '../projects/project.ts';
import type { MembershipRow, MembershipStore } from '../store/control/memberships.ts';
import { accountHashText } from './logins.ts';

/** The additional data that seals the address of a member in the control database. */
export function membershipAad(projectId: string, memberId: string): string {
  return `membership|${projectId}|${memberId}|address`;
}

/** Finds the projects of a person who signs in, from rows that follow the projects' own. */
export class MemberDirectory {
  readonly #store: MembershipStore;
  readonly #vault: Vault;

  readonly #isUsed: boolean;

  /** `isUsed`: people sign in here. Otherwise nobody looks for projects. */
  constructor(
    store: MembershipStore,
    vault: Vault,
    { isUsed = false }: { isUsed?: boolean | undefined },
  ) {
    this.#store = store;
    this.#vault = vault;
    this.#isUsed = isUsed;
  }

  /** Before the member joins, so that after a crash they are found too. */
  async add(projectId: string, memberId: string, address: string): Promise<void> {
    await this.#store.add(projectId, this.#row(projectId, memberId, address));
  }

  /** Takes over who the members are now. */
  async follow({ info, store }: Pick<Project, 'info' | 'store'>): Promise<void> {
    if (!this.#isUsed) return;
    const { members, channels } = await store.read(async (repositories) => ({
      members: await repositories.members.list(),
      channels: await repositories.channels.list(),
    }));
    const rows: MembershipRow[] = [];
    let ownerHash: string | null = null;
    for (const member of members) {
      if (member.status !== 'active') continue;
      const channel = channels.find(({ id }) => id === member.channel_id);
      const address = this.#addressOf(info.id, member, channel);
      if (address === null) continue;
      const row = this.#row(info.id, member.id, address);
      rows.push(row);
      if (channel?.owner === 1) ownerHash = row.address_hash;
    }
    await this.#store.replace(info.id, rows, ownerHash);
  }

  #addressOf(projectId: string, member: MemberRow, channel?: ChannelRow): string | null {
    if (member.address) return this.#open(memberAad(projectId, member.id), member.address);
    return channel?.address ? this.#open(channelAad(projectId, channel.id), channel.address) : null;
  }

  #open(aad: string, sealed: Uint8Array): string {
    return Buffer.from(this.#vault.open(aad, sealed)).toString('utf8');
  }

  #row(projectId: string, memberId: string, address: string): MembershipRow {
    const comparable = comparableAddress(address);
    return {
      member_id: memberId,
      address: this.#vault.seal(membershipAad(projectId, memberId), comparable),
      address_hash: this.#vault.sign(accountHashText(comparable)),
    };
  }
}
