import { profileOf } from '../../daemon/credentials.ts';
import type { Client } from '../call/client.ts';
import type { CommandContext } from '../command.ts';
import { profileClient } from '../call/profile-client.ts';
import { storedProfiles } from '../signin/profiles.ts';
import { agentKey, type KeyHolder, type KeyWish } from './agent-key.ts';

/**
 * A client with a key of the holder's own, which the first use makes. A key in the environment comes first. A revoked key
 * isn't replaced: somebody wanted to stop this agent.
 */
export async function ownClient(
  context: CommandContext,
  holder: KeyHolder,
  wish: KeyWish,
): Promise<Client> {
  const { env, home } = context;
  if (env['SVC_API_KEY'] || env['SVC_GATEWAY']) return context.client();
  const stored = profileOf(storedProfiles(home.credentialsFile), holder.profile);
  if (stored?.client === undefined) await agentKey(context, holder, wish);
  return profileClient(context, holder.profile);
}
