import type { ApprovalContext } from '../../kernel/context.ts';

/** The active channels of all owners, the owner's channel first. */
export async function ownerChannels({ store }: Pick<ApprovalContext, 'store'>): Promise<string[]> {
  const members = await store.members.list();
  const ofOwners = members.flatMap(({ role, channel_id: id }) =>
    role === 'owner' && id ? [id] : [],
  );
  const active = (await store.channels.list()).filter(({ status }) => status === 'active');
  return active.filter(({ id, owner }) => owner === 1 || ofOwners.includes(id)).map(({ id }) => id);
}
