import { HttpClient, type Client } from './client.ts';
import type { CommandContext } from '../command.ts';

/** A client that uses this profile whatever the environment says. */
export function profileClient(
  { home, env, output }: Pick<CommandContext, 'home' | 'env' | 'output'>,
  profile: string,
): Client {
  const { SVC_API_KEY: _key, SVC_GATEWAY: _gateway, ...rest } = env;
  return new HttpClient({ home, env: rest, profile, warn: (text) => output.note(text) });
}
