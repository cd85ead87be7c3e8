import { HttpClient, type Client } from '../call/client.ts';
import type { CommandContext } from '../command.ts';

/** A client that calls the gateway directly and ignores the daemon and the environment. An empty key sends none. */
export function gatewayClient(
  { home, env, output }: Pick<CommandContext, 'home' | 'env' | 'output'>,
  gateway: URL,
  apiKey = '',
): Client {
  const connection = { gateway, apiKey, hint: 'Check the address and your connection.' };
  return new HttpClient({ home, env, connection, warn: (text) => output.note(text) });
}
