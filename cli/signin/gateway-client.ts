import { HttpClient, type Client } from '../client.ts';
import type { CommandContext } from '../command.ts';

/** Calls a gateway itself, past the daemon and past what is set in the environment; without a key where it is empty. */
export function gatewayClient(
  { home, env, output }: Pick<CommandContext, 'home' | 'env' | 'output'>,
  gateway: URL,
  apiKey = '',
): Client {
  const connection = { gateway, apiKey, hint: 'Check the address and your connection.' };
  return new HttpClient({ home, env, connection, warn: (text) => output.note(text) });
}
