import { whileLocked } from './file-lock.ts';
import { readIfThere, writePrivateFile } from './files.ts';
import { isObject, parseObject } from '../shared/lib/guards.ts';

/** A stored key and where it is used. */
export interface Profile {
  /** The gateway's base address; null is this machine's own daemon in local mode. */
  readonly gateway: string | null;
  readonly api_key: string;
  /** The id of the project. */
  readonly project: string;
  /** Of a gateway's project, as they were when somebody signed in. */
  readonly slug?: string;
  readonly name?: string;
  /** Who signed in, masked. */
  readonly email?: string;
  /** What Node was told to trust besides its own authorities when somebody signed in. */
  readonly ca_file?: string;
}

/** `credentials.json`. */
export interface Credentials {
  readonly profiles: Readonly<Record<string, Profile>>;
  readonly current: string;
}

/** The profile of local mode. */
export const LOCAL_PROFILE = 'default';

/** What is stored, or null before the first start. Throws when the file is no credentials file. */
export function readCredentials(path: string): Credentials | null {
  const text = readIfThere(path);
  if (text === null) return null;
  const stored = parse(text);
  if (!stored)
    throw new Error(`svc can't read ${path}. Move it away and run \`svc up\` to create a new key.`);
  return stored;
}

/**
 * Changes what is stored, and no change of another process is lost. Null leaves it as it is. Throws when the file is no
 * credentials file.
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

/** Stores the key of local mode beside the profiles there are; the current profile stays what it is. */
export function storeLocalKey(path: string, key: { apiKey: string; project: string }): void {
  const profile: Profile = { gateway: null, api_key: key.apiKey, project: key.project };
  changeCredentials(path, (stored) => ({
    profiles: { ...stored?.profiles, [LOCAL_PROFILE]: profile },
    current: stored?.current ?? LOCAL_PROFILE,
  }));
}

/** What is stored under this name, which may be any text; undefined where there is nothing. */
export function profileOf(stored: Credentials | null, name: string): Profile | undefined {
  return stored && Object.hasOwn(stored.profiles, name) ? stored.profiles[name] : undefined;
}

/** Puts a new secret where the old one is stored; false when it is stored nowhere. */
export function replaceStoredKey(path: string, oldKey: string, newKey: string): boolean {
  const isOld = (profile: Profile) => profile.api_key === oldKey;
  // Where nothing is stored there may be no place to store either.
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
