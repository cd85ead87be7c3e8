import { readCredentials, type Credentials, type Profile } from '../../../daemon/credentials.ts';
import type { Home } from '../../../daemon/home.ts';
import { readRecord } from '../../../daemon/record.ts';
import { isAlive } from '../../../shared/host/processes.ts';
import { isLoopback } from '../call/transport.ts';
import { SvcError } from '../core/errors.ts';
import { parsedUrl } from '../../../shared/lib/urls.ts';

/** Where calls go, and with which key. */
export interface Connection {
  /** Null means the daemon's socket. */
  readonly gateway: URL | null;
  /** Empty if there is no key yet. */
  readonly apiKey: string;
  /** What to check if nothing answers there. */
  readonly hint?: string;
  /** Shown before the first call. */
  readonly warning?: string;
  /** Why no call is possible. */
  readonly refusal?: SvcError;
}

/**
 * SVC_GATEWAY and SVC_API_KEY override the stored profile. Calls for a gateway's profile go to the daemon if it has
 * that project, otherwise to the gateway. A stored key crosses the network over http only if the user agreed at
 * sign-in. A key in SVC_API_KEY is the user's own choice, so svc only warns.
 */
export function resolveConnection(
  home: Pick<Home, 'credentialsFile' | 'daemonFile'>,
  env: NodeJS.ProcessEnv,
  profileName: string | undefined,
): Connection {
  const gateway = gatewayUrl(env['SVC_GATEWAY']);
  const given = env['SVC_API_KEY'];
  if (given && profileName === undefined) {
    const warning = isInClear(gateway) ? inClear(gateway) : null;
    return { gateway, apiKey: given, hint: 'Check SVC_GATEWAY.', ...(warning && { warning }) };
  }
  const profile = storedProfile(home.credentialsFile, profileName);
  if (gateway !== null) return namedGateway(gateway, profile);
  return profile ? connectionOf(profile, home.daemonFile) : { gateway, apiKey: '' };
}

function namedGateway(gateway: URL, profile: Profile | undefined): Connection {
  const apiKey = profile && mayGoTo(profile, gateway) ? profile.api_key : '';
  const isRefused = apiKey === '' && isInClear(gateway);
  const hint = 'Check SVC_GATEWAY.';
  return { gateway, apiKey, hint, ...(isRefused && { refusal: notInClear(gateway) }) };
}

/** Over http to another machine, where anyone on the network can read it. */
function isInClear(gateway: URL | null): gateway is URL {
  return gateway?.protocol === 'http:' && !isLoopback(gateway.hostname);
}

function inClear(gateway: URL): string {
  return `SVC_API_KEY crosses the network unencrypted. If ${gateway.host} supports TLS: SVC_GATEWAY=https://${gateway.host}`;
}

function notInClear(gateway: URL): SvcError {
  return usageError(
    'SVC_GATEWAY uses http to another machine, so your stored key would cross the network unencrypted.',
    `Try: SVC_GATEWAY=https://${gateway.host}. If you trust the network: svc login --gateway ${gateway.origin} --insecure`,
  );
}

function connectionOf(profile: Profile, daemonFile: string): Connection {
  const { api_key: apiKey, gateway: address, project } = profile;
  const there = runningProject(daemonFile);
  const gateway = there === project ? null : parsedUrl(address ?? '');
  if (gateway) {
    const hint = 'The address comes from the profile. See: svc project list';
    return { gateway, apiKey, hint };
  }
  const isOther = there !== null && there !== project;
  return { gateway: null, apiKey, ...(isOther && { refusal: otherProject() }) };
}

function otherProject(): SvcError {
  return new SvcError({
    code: 'OTHER_PROJECT',
    message: "The daemon runs for another project, not this machine's own.",
    hint: 'Switch it to this one: svc up. Or go back to the other: svc project use NAME',
  });
}

/** The running daemon's project; null if no daemon runs or it doesn't know its project yet. */
export function runningProject(daemonFile: string): string | null {
  const record = readRecord(daemonFile);
  return record && typeof record.project === 'string' && isAlive(record.pid)
    ? record.project
    : null;
}

function gatewayUrl(text: string | undefined): URL | null {
  if (!text) return null;
  const url = parsedUrl(text);
  if (url && ['http:', 'https:'].includes(url.protocol)) return url;
  throw usageError(`SVC_GATEWAY isn't an http or https address: "${text}".`);
}

function storedProfile(file: string, name: string | undefined): Profile | undefined {
  const credentials = read(file);
  const profiles = new Map(Object.entries(credentials?.profiles ?? {}));
  const profile = profiles.get(name ?? credentials?.current ?? '');
  if (profile || name === undefined) return profile;
  const known = [...profiles.keys()].join(', ') || 'none';
  throw usageError(`No profile "${name}".`, `Stored profiles: ${known}`);
}

function read(file: string): Credentials | null {
  try {
    return readCredentials(file);
  } catch (error) {
    const message = error instanceof Error ? error.message : `svc can't read ${file}.`;
    throw new SvcError({ code: 'CREDENTIALS_INVALID', message });
  }
}

/** A stored key is only sent to the gateway it came from; a local-mode key stays on this machine. */
function mayGoTo(profile: Profile, gateway: URL): boolean {
  if (profile.gateway === null) return isLoopback(gateway.hostname);
  return parsedUrl(profile.gateway)?.origin === gateway.origin;
}

function usageError(message: string, hint: string | null = null): SvcError {
  return new SvcError({ code: 'USAGE', message, hint });
}
