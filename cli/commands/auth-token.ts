import type { CommandContext } from '../command.ts';
import { EXIT } from '../exit.ts';
import { CliError } from '../errors.ts';

/** Plain text even where answers are JSON, so that `$(svc auth token)` is the key; JSON only when asked for. */
export function run({ client, options, output }: CommandContext): Promise<void> {
  const { apiKey } = client();
  if (apiKey === '') {
    throw new CliError({
      code: 'UNAUTHENTICATED',
      message: 'There is no API key on this machine.',
      hint: 'Start the daemon, which makes one: svc up. Or set SVC_API_KEY.',
      exit: EXIT.signedOut,
    });
  }
  if (options['json']) output.answer({ api_key: apiKey });
  else output.line(apiKey);
  return Promise.resolve();
}
