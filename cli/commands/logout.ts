import { LOCAL_PROFILE, type Profile } from '../../daemon/credentials.ts';
import { removeReplica } from '../../daemon/replica-paths.ts';
import type { CommandContext, Declaration } from '../command.ts';
import { runningProject } from '../../clients/typescript/node/connection.ts';
import { CallError, CliError, usageError } from '../errors.ts';
import { EXIT } from '../exit.ts';
import { switchOption, textArgument, textOption } from '../input/option-values.ts';
import { gatewayClient } from '../signin/gateway-client.ts';
import { existing, removeProfile, storedProfiles } from '../signin/profiles.ts';
import { canBeSatOut, messageOf } from '../../clients/typescript/core/errors.ts';
import { parsedUrl } from '../../shared/lib/urls.ts';

export const declaration: Declaration = {
  summary: "Revoke a profile's key, and remove the profile and its replica.",
  description:
    "svc removes the project's replica with its last profile; if a daemon still runs for it, the next svc up removes it. If the gateway can't be reached, svc still removes the profile, but the key keeps working. What the key made goes on: svc key revoke ends that too. Without a name, signs out of the current profile.",
  args: [{ name: 'profile', required: false, summary: "The profile's name", stored: 'profiles' }],
  options: [{ flag: 'keep-key', summary: "Don't revoke the key at the gateway" }],
  examples: ['logout', 'logout shop', 'logout shop --keep-key'],
  seeAlso: ['login', 'project list'],
};

const CALL_MS = 10_000;

/** What happened to the key at its gateway. */
type KeyEnd = 'revoked' | 'revoked_before' | 'kept' | 'unreachable';

/** `svc logout`: revokes a profile's key, then removes the profile and this machine's replica of its project. */
export async function run(context: CommandContext): Promise<void> {
  const { home, output } = context;
  const stored = storedProfiles(home.credentialsFile);
  const name = textArgument(context, 'profile') ?? textOption(context, 'profile') ?? stored.current;
  const profile = existing(name, stored);
  if (name === LOCAL_PROFILE || profile.gateway === null) {
    throw usageError(
      `The profile "${name}" is this machine's own project: there's nothing to sign out of.`,
      'To stop its daemon: svc down',
    );
  }
  const key = switchOption(context, 'keep-key')
    ? 'kept'
    : await output.spin('Revoking the key', revoke(context, name, profile));
  const current = removeProfile(home.credentialsFile, name);
  if (key === 'unreachable') tellAlive(context, profile);
  if (output.json) output.answer({ profile: name, key, current });
  else {
    output.advise(`Signed out of ${profile.slug ?? profile.project}; ${KEY_ENDS[key]}`);
    output.advise(
      current === null
        ? 'No profiles left. Next: svc up, or svc login --gateway URL'
        : `Commands now use the profile ${current}.`,
    );
  }
  endCopy(context, profile, current);
}

/** Removes the project's replica unless another profile still uses it. */
function endCopy({ home, output }: CommandContext, { project }: Profile, current: string | null) {
  const others = Object.values(storedProfiles(home.credentialsFile).profiles);
  const isWanted = others.some((one) => one.project === project);
  if (runningProject(home.daemonFile) === project) {
    const effect = isWanted ? '' : ', which removes the replica';
    output.note(
      `The daemon still runs for it. To stop it: svc down. To restart it for ${current ?? 'this machine'}${effect}: svc up`,
    );
  } else if (!isWanted) {
    removeReplica(home, project);
  }
}

const KEY_ENDS: Readonly<Record<KeyEnd, string>> = {
  revoked: 'its key is revoked.',
  revoked_before: 'its key was already revoked.',
  kept: 'its key still works.',
  unreachable: 'its key still works.',
};

async function revoke(context: CommandContext, name: string, profile: Profile): Promise<KeyEnd> {
  const gateway = parsedUrl(profile.gateway ?? '');
  if (!gateway) return 'unreachable';
  const client = gatewayClient(context, gateway, profile.api_key);
  try {
    const options = { signal: context.signal, timeoutMs: CALL_MS };
    // Asks the gateway, because the stored key may have been rotated since.
    const { id } = (await client.call('whoami', {}, options)).key;
    await client.call('key_revoke', { key_id: id, keep: true }, options);
    return 'revoked';
  } catch (error) {
    if (context.signal.aborted) throw error;
    if (error instanceof CallError && error.status === 401) return 'revoked_before';
    if (error instanceof CallError && error.code === 'LAST_ADMIN_KEY') throw lastAdmin(name);
    // If this machine doesn't trust the gateway, the key can't be revoked, but the profile is still removed.
    const isUntrusted = error instanceof CliError && error.code === 'UNREACHABLE';
    if (!canBeSatOut(error) && !isUntrusted) throw error;
    context.output.note(messageOf(error));
    return 'unreachable';
  }
}

function lastAdmin(name: string): CliError {
  return new CliError({
    code: 'LAST_ADMIN_KEY',
    message: "This is the project's last admin key, so the gateway won't revoke it.",
    hint: `To remove it from this machine only: svc logout ${name} --keep-key. The project's owner can get another key with svc login.`,
    exit: EXIT.refused,
  });
}

/** Shows the key's last characters, as `svc key list` does. */
function tellAlive({ output }: CommandContext, { api_key, slug, project }: Profile): void {
  output.note(
    `The key …${api_key.slice(-4)} of ${slug ?? project} still works. Revoke it when the gateway is back, from another machine: svc key list, svc key revoke`,
  );
}
