import type { ApprovalContext, Caller, ServerInfo } from '../../kernel/context.ts';
import { ownerChannels } from '../member/owners.ts';
import { notifyAccess } from '../request/notify.ts';

/** So that somebody who makes many things doesn't flood the owners: the messages of an hour to one of them. */
const TELL_MAX = 20;
const TELL_WITHIN_MS = 3_600_000;

/**
 * Tells the owners that there is a new key with admin, route or member, by its id, in one message each. Whoever made it in a
 * session of their own isn't told, and nobody is about what this machine's own key made on a machine where nobody signs in.
 */
export async function tellOwners(
  context: ApprovalContext & { readonly server: Pick<ServerInfo, 'signsIn'> },
  id: string,
  { keyId, member }: Pick<Caller, 'keyId' | 'member'>,
): Promise<void> {
  const { store, server } = context;
  if (server.signsIn !== true && (await store.keys.find(keyId))?.created_by === null) return;
  const own = member && (await store.members.find(member.id))?.channel_id;
  await tellOwnersBut(context, id, own ?? null);
}

/** The same, except the owner with this channel. */
export async function tellOwnersBut(
  context: ApprovalContext,
  id: string,
  except: string | null,
): Promise<void> {
  const { store, now } = context;
  for (const channelId of await ownerChannels(context)) {
    if (channelId === except) continue;
    const recent = await store.notices.countAccess(channelId, now - TELL_WITHIN_MS);
    if (recent < TELL_MAX) await notifyAccess(context, channelId, id);
  }
}
