import { readCredentials, type Credentials, type Profile } from '../daemon/credentials.ts';
import type { Home } from '../daemon/home.ts';
import { EXIT } from './exit.ts';
import { CliError, unreachable, usageError } from './errors.ts';

/** Where calls go and with which key. */
export interface Connection {
  /** Null is the daemon's socket. */
  readonly gateway: URL | null;
  /** Empty when there is none yet. */
  readonly apiKey: string;
}

/** SVC_GATEWAY and SVC_API_KEY win over what is stored. */
export function resolveConnection(
  home: Pick<Home, 'credentialsFile'>,
  env: NodeJS.ProcessEnv,
  profileName: string | undefined,
): Connection {
  const gateway = gatewayUrl(env['SVC_GATEWAY']);
  const given = env['SVC_API_KEY'];
  if (given && profileName === undefined) return { gateway, apiKey: given };
  const profile = storedProfile(home.credentialsFile, profileName);
  return { gateway, apiKey: profile && mayGoTo(profile, gateway) ? profile.api_key : '' };
}

function gatewayUrl(text: string | undefined): URL | null {
  if (!text) return null;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url && ['http:', 'https:'].includes(url.protocol)) return url;
  throw usageError(`SVC_GATEWAY is not an http or https address: "${text}".`);
}

function storedProfile(file: string, name: string | undefined): Profile | undefined {
  const credentials = read(file);
  const profiles = new Map(Object.entries(credentials?.profiles ?? {}));
  const profile = profiles.get(name ?? credentials?.current ?? '');
  if (profile || name === undefined) return profile;
  const known = [...profiles.keys()].join(', ') || 'none';
  throw usageError(`There is no profile "${name}".`, `Stored profiles: ${known}`);
}

function read(file: string): Credentials | null {
  try {
    return readCredentials(file);
  } catch (error) {
    const message = error instanceof Error ? error.message : `${file} cannot be read.`;
    throw new CliError({ code: 'CREDENTIALS_INVALID', message, exit: EXIT.signedOut });
  }
}

/** A stored key goes to the gateway it came from, and that of local mode stays on this machine. */
function mayGoTo(profile: Profile, gateway: URL | null): boolean {
  if (gateway === null) return true;
  if (profile.gateway === null) return isLoopback(gateway.hostname);
  return URL.canParse(profile.gateway) && new URL(profile.gateway).origin === gateway.origin;
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host);
}

/** The refusal when nobody listens where calls go. */
export function notListening({ gateway }: Connection, reason: string): CliError {
  if (gateway === null) return unreachable('The daemon is not running. Start it with: svc up');
  return unreachable(`${gateway.origin} cannot be reached (${reason}).`, 'Check SVC_GATEWAY.');
}
