import { resolveHome, type Home } from '../../../daemon/home.ts';
import { StartRefusal } from '../../../shared/host/start-refusal.ts';
import type { Target } from '../call/http-caller.ts';
import { gatewayTransport } from '../call/transport.ts';
import { NO_KEY_HINT } from '../call/unanswered.ts';
import { SvcError } from '../core/errors.ts';
import { AuthenticationError } from '../errors.ts';
import { resolveConnection } from './connection.ts';
import { nodeTransport } from './node-transport.ts';

interface TargetOptions {
  readonly apiKey?: string | undefined;
  readonly gateway?: string | URL | undefined;
  readonly profile?: string | undefined;
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  readonly fetch?: typeof globalThis.fetch | undefined;
}

/**
 * Finds key, gateway or the daemon's socket as the command does; what is given wins. Waiting doesn't bring a key, so it
 * throws if there's none.
 */
export async function findTarget(wanted: TargetOptions): Promise<Target> {
  const { apiKey, gateway, profile, fetch } = wanted;
  const env = {
    ...(wanted.env ?? process.env),
    ...(apiKey !== undefined && { SVC_API_KEY: apiKey }),
    ...(gateway !== undefined && { SVC_GATEWAY: String(gateway) }),
  };
  const home = trustedHome(env);
  const connection = resolveConnection(home, env, profile);
  const { gateway: url, apiKey: key, hint } = connection;
  if (key === '' && !connection.refusal) {
    const message = 'No API key is stored here, and SVC_API_KEY is not set.';
    const how = hint ?? (url === null ? NO_KEY_HINT : null);
    throw new AuthenticationError({ code: 'UNAUTHENTICATED', message, hint: how });
  }
  const transport = url ? await gatewayTransport(url, fetch) : nodeTransport(home.socketPath);
  return { ...connection, transport };
}

function trustedHome(env: NodeJS.ProcessEnv): Home {
  try {
    return resolveHome(env);
  } catch (error) {
    if (!(error instanceof StartRefusal)) throw error;
    throw new SvcError({ code: 'USAGE', message: error.message });
  }
}
