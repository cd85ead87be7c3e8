import type { CommandContext } from '../command.ts';
import { NO_KEY_HINT } from '../../clients/typescript/call/unanswered.ts';
import { CliError } from '../errors.ts';
import { EXIT } from '../exit.ts';
import { storedProfiles } from './profiles.ts';

/** The error of a command that has no key to print. SVC_GATEWAY may name another address than the stored key's. */
export function noKey({ client, home }: CommandContext): CliError {
  const { gateway } = client();
  const isStored = Object.keys(storedProfiles(home.credentialsFile).profiles).length > 0;
  const isElsewhere = gateway !== null && isStored;
  return new CliError({
    code: 'UNAUTHENTICATED',
    message: isElsewhere
      ? `SVC_GATEWAY is ${gateway.origin}, but the stored key is for another address.`
      : 'No API key is stored on this machine.',
    hint: isElsewhere
      ? 'Unset SVC_GATEWAY, choose a profile for that address with --profile, or get a key there: svc login'
      : `${NO_KEY_HINT}. Or set SVC_API_KEY.`,
    exit: EXIT.signedOut,
  });
}
