import type { CommandContext, Declaration } from '../../command.ts';
import { EXIT } from '../../exit.ts';
import { NO_KEY_HINT } from '../../connection.ts';
import { CliError } from '../../errors.ts';
import { storedProfiles } from '../../signin/profiles.ts';

export const declaration: Declaration = {
  summary: 'Print the API key that commands send.',
  description:
    'Reads SVC_API_KEY, or else the stored profile. Your own programs can send it as a bearer token.',
  args: [],
  options: [],
  examples: ['auth token', 'auth token --profile work'],
  seeAlso: ['key create', 'api', 'whoami'],
};

/** Plain text even in a pipe, so that `$(svc auth token)` is the key; JSON only with --json. */
export function run(context: CommandContext): Promise<void> {
  const { options, output } = context;
  const { apiKey } = context.client();
  if (apiKey === '') throw noKey(context);
  if (options['json']) output.answer({ api_key: apiKey });
  else output.line(apiKey);
  return Promise.resolve();
}

/** A stored key is only sent to the address it came from, and SVC_GATEWAY may name another one. */
function noKey({ client, home }: CommandContext): CliError {
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
