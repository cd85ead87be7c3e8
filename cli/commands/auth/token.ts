import type { CommandContext, Declaration } from '../../command.ts';
import { noKey } from '../../signin/no-key.ts';

export const declaration: Declaration = {
  summary: 'Print the API key that commands send.',
  description:
    'Reads SVC_API_KEY, or else the stored profile. Your own programs can send it as a bearer token.',
  args: [],
  options: [],
  examples: ['auth token', 'auth token --profile work'],
  seeAlso: ['env', 'key create', 'api', 'whoami'],
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
