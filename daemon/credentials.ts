import { whileLocked } from './file-lock.ts';
import { readIfThere, writePrivateFile } from './files.ts';
import { isObject, parseObject } from '../shared/lib/guards.ts';

/** A stored key and the place that accepts it. */
export interface Profile {
  /** The gateway's base address; null means this machine's own daemon in local mode. */
  readonly gateway: string | null;
  readonly api_key: string;
  /** The id of the project. */
  readonly project: string;
  /** Slug and name of a gateway's project at the time of sign-in. */
  readonly slug?: string;
  readonly name?: string;
  /** The masked address of the person who signed in. */
  readonly email?: string;
  /** The value of NODE_EXTRA_CA_CERTS at sign-in. */
  readonly ca_file?: string;
  /** The MCP client that has this key, so that nothing else uses it. */
  readonly client?: string;
}

/** `credentials.json`. */
export interface Credentials {
  readonly profiles: Readonly<Record<string, Profile>>;
  readonly current: string;
}

/** The profile of local mode. */
export const LOCAL_PROFILE = 'default';

/** The stored credentials, or null before the first start. Throws if the file isn't a credentials file. */
export function readCredentials(path: string): Credentials | null {
  const text = readIfThere(path);
  if (text === null) return null;
  const stored = parse(text);
  if (!stored)
    throw new Error(`svc can't read ${path}. Move it away and run \`svc up\` to create a new key.`);
  return stored;
}

/**
 * Changes the stored credentials under a lock, so processes don't overwrite each other's changes. `change` returns null
 * to leave the file alone. Throws if the file isn't a credentials file.
 */
export function changeCredentials(
  path: string,
  change: (stored: Credentials | null) => Credentials | null,
): void {
  whileLocked(path, () => {
    const next = change(readCredentials(path));
    if (next) writePrivateFile(path, `${JSON.stringify(next, null, 2)}\n`);
  });
}

/** Adds the key of local mode to the stored profiles, and doesn't change the current profile. */
export function storeLocalKey(path: string, key: { apiKey: string; project: string }): void {
  const profile: Profile = { gateway: null, api_key: key.apiKey, project: key.project };
  changeCredentials(path, (stored) => ({
    profiles: { ...stored?.profiles, [LOCAL_PROFILE]: profile },
    current: stored?.current ?? LOCAL_PROFILE,
  }));
}

/** The profile with this name; undefined if there isn't one. `name` may be any text, such as `__proto__`. */
export function profileOf(stored: Credentials | null, name: string): Profile | undefined {
  return stored && Object.hasOwn(stored.profiles, name) ? stored.profiles[name] : undefined;
}

/** Replaces the old secret by the new one in each profile that has it; false if no profile does. */
export function replaceStoredKey(path: string, oldKey: string, newKey: string): boolean {
  const isOld = (profile: Profile) => profile.api_key === oldKey;
  // Without a stored key, the folder may not even be writable, so don't take the lock.
  if (!Object.values(readCredentials(path)?.profiles ?? {}).some(isOld)) return false;
  changeCredentials(path, (stored) => {
    const entries = Object.entries(stored?.profiles ?? {});
    const profiles = entries.map(([name, profile]) => [
      name,
      isOld(profile) ? { ...profile, api_key: newKey } : profile,
    ]);
    return stored && { ...stored, profiles: Object.fromEntries(profiles) };
  });
  return true;
}

function parse(text: string): Credentials | null {
  const value: unknown = parseObject(text);
  return isCredentials(value) ? value : null;
}

function isCredentials(value: unknown): value is Credentials {
  return (
    isObject(value) &&
    typeof value['current'] === 'string' &&
    isObject(value['profiles']) &&
    Object.values(value['profiles']).every(
      (profile) => isObject(profile) && typeof profile['api_key'] === 'string',
    )
  );
}
