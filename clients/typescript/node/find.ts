import { resolveHome } from '../../../daemon/home.ts';
import type { Target } from '../call/http-caller.ts';
import { fetchTransport } from '../call/transport.ts';
import { NO_KEY_HINT, resolveConnection } from './connection.ts';
import { socketTransport } from './socket-transport.ts';

interface Wanted {
  readonly apiKey?: string | undefined;
  readonly gateway?: string | URL | undefined;
  readonly profile?: string | undefined;
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  readonly fetch: typeof globalThis.fetch;
}

/** Finds key, gateway or the daemon's socket as the command does; what is given wins. */
export function findTarget(wanted: Wanted): Target {
  const { apiKey, gateway, profile, fetch } = wanted;
  const env = {
    ...(wanted.env ?? process.env),
    ...(apiKey !== undefined && { SVC_API_KEY: apiKey }),
    ...(gateway !== undefined && { SVC_GATEWAY: String(gateway) }),
  };
  const home = resolveHome(env);
  const connection = resolveConnection(home, env, profile);
  if (connection.refusal) throw connection.refusal;
  const { gateway: url, apiKey: key } = connection;
  const local = key === '' ? NO_KEY_HINT : 'Start the daemon with: svc up';
  return {
    gateway: url,
    apiKey: key,
    hint: connection.hint ?? (url === null ? local : null),
    transport: url === null ? socketTransport(home.socketPath) : fetchTransport(url, fetch),
  };
}
