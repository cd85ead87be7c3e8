import { readIfThere, writePrivateFile } from './files.ts';
import { isObject, parseObject } from '../shared/untyped.ts';

/** A stored key and where it is used. */
export interface Profile {
  /** The gateway's base address; null is this machine's own daemon in local mode. */
  readonly gateway: string | null;
  readonly api_key: string;
  readonly project: string;
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
    throw new Error(`${path} cannot be read. Move it away, and \`svc up\` makes a new key.`);
  return stored;
}

/** Stores the key of local mode beside the profiles there are; the current profile stays what it is. */
export function storeLocalKey(path: string, key: { apiKey: string; project: string }): void {
  const stored = readCredentials(path);
  const profile: Profile = { gateway: null, api_key: key.apiKey, project: key.project };
  const next: Credentials = {
    profiles: { ...stored?.profiles, [LOCAL_PROFILE]: profile },
    current: stored?.current ?? LOCAL_PROFILE,
  };
  writePrivateFile(path, `${JSON.stringify(next, null, 2)}\n`);
}

/** Puts a new secret where the old one is stored; false when it is stored nowhere. */
export function replaceStoredKey(path: string, oldKey: string, newKey: string): boolean {
  const stored = readCredentials(path);
  const names = Object.entries(stored?.profiles ?? {})
    .filter(([, profile]) => profile.api_key === oldKey)
    .map(([name]) => name);
  if (!stored || names.length === 0) return false;
  const profiles = Object.fromEntries(
    Object.entries(stored.profiles).map(([name, profile]) => [
      name,
      names.includes(name) ? { ...profile, api_key: newKey } : profile,
    ]),
  );
  writePrivateFile(path, `${JSON.stringify({ ...stored, profiles }, null, 2)}\n`);
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
