import type { Vault } from '../../shared/kernel/context.ts';
import { addressHashText } from '../../shared/operations/channel/view.ts';
import type { MemberRow } from '../../shared/store/tables/access/members.ts';
import { NO_OWNER } from '../approvals/no-owner.ts';
import type { Project } from '../projects/project.ts';

// Who opens the web inbox. It's read for each request, before there is a caller whom the executor could check.

/** The member with this address; null unless they are active. */
export async function activeMember(
  project: Project,
  vault: Vault,
  address: string,
): Promise<MemberRow | null> {
  const hash = vault.sign(addressHashText(project.info.id, address));
  const member = await project.store.read(({ members }) => members.findByAddress(hash));
  return member?.status === 'active' ? member : null;
}

/** The owner's channel while no owner's address is set, so that whoever uses the machine decides; null with an owner. */
export async function channelWithoutOwner(project: Project, vault: Vault): Promise<string | null> {
  const owner = await project.store.read(({ channels }) => channels.owner());
  const hash = vault.sign(addressHashText(project.info.id, NO_OWNER));
  return owner?.address_hash === hash ? owner.id : null;
}
