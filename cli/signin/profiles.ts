import {
  changeCredentials,
  LOCAL_PROFILE,
  profileOf,
  readCredentials,
  type Credentials,
  type Profile,
} from '../../daemon/credentials.ts';
import { didYouMean } from '../../shared/lib/suggest.ts';
import { CliError, usageError } from '../errors.ts';
import { EXIT } from '../exit.ts';
import { messageOf } from '../../clients/typescript/core/errors.ts';

const PROFILE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;

const NONE: Credentials = { profiles: {}, current: LOCAL_PROFILE };

/** The stored profiles; empty before the first start. Throws CREDENTIALS_INVALID if the file is damaged. */
export function storedProfiles(file: string): Credentials {
  return orRefused(() => readCredentials(file) ?? NONE);
}

/** Throws if profiles can't be read or written, before any work that needs them. */
export function checkStorable(file: string): void {
  orRefused(() => changeCredentials(file, () => null));
}

/** Throws if the name can't be used for a profile of this gateway, or of this project there. */
export function checkName(
  name: string,
  stored: Credentials,
  place: { readonly gateway: string; readonly project?: string | null },
): void {
  if (!PROFILE_NAME.test(name)) {
    throw usageError(`--name takes 1 to 63 of a-z, A-Z, 0-9, ".", "_" and "-".`);
  }
  if (name === LOCAL_PROFILE) {
    throw usageError(
      `"${LOCAL_PROFILE}" is the profile of this machine's own project.`,
      'Choose another --name.',
    );
  }
  const before = profileOf(stored, name);
  const isSame =
    before?.client === undefined &&
    before?.gateway === place.gateway &&
    (place.project === undefined || before.project === place.project);
  if (!before || isSame) return;
  throw usageError(
    `The profile "${name}" already exists for another project.`,
    `Choose another --name, or remove that one: svc logout ${name}`,
  );
}

/**
 * Stores a profile and makes it current. Signing in to the same project again replaces its profile. Returns the name:
 * the given one, or the project's slug, with a number if it's taken.
 */
export function storeProfile(
  file: string,
  profile: Profile,
  wish: string | null,
): { readonly name: string; readonly replaced: boolean } {
  let result = { name: '', replaced: false };
  orRefused(() =>
    changeCredentials(file, (stored) => {
      const { profiles } = stored ?? NONE;
      const name = freeName(profile, wish, profiles);
      result = { name, replaced: Object.hasOwn(profiles, name) };
      return { profiles: { ...profiles, [name]: profile }, current: name };
    }),
  );
  return result;
}

function freeName(
  profile: Profile,
  wish: string | null,
  profiles: Credentials['profiles'],
): string {
  const isSame = (one: Profile | undefined) => one !== undefined && isForSame(one, profile);
  const before = Object.keys(profiles).find((name) => isSame(profiles[name]));
  if (wish === null && before !== undefined) return before;
  const base = wish ?? baseName(profile);
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? base : `${base}-${number}`;
    const taken = Object.hasOwn(profiles, name) && !isSame(profiles[name]);
    if (!taken && name !== LOCAL_PROFILE) return name;
  }
}

/** Whether a profile is the user's own for this project; an MCP client's profile isn't. */
function isForSame(one: Profile, { gateway, project }: Profile): boolean {
  return one.client === undefined && one.gateway === gateway && one.project === project;
}

/**
 * Stores a client's profile in place of the one that was there before, and doesn't change the current one. False if
 * another process has stored one meanwhile: then that one stays.
 */
export function storeClientProfile(
  file: string,
  name: string,
  profile: Profile,
  before: Profile | undefined,
): boolean {
  let isStored = false;
  orRefused(() =>
    changeCredentials(file, (stored) => {
      const { profiles, current } = stored ?? NONE;
      isStored = profileOf(stored, name)?.api_key === before?.api_key;
      return isStored ? { profiles: { ...profiles, [name]: profile }, current } : null;
    }),
  );
  return isStored;
}

/** The profile that a daemon should use for this one's project: the user's own, if there's one. */
export function servingProfile(file: string, name: string | undefined): string | undefined {
  const { profiles } = storedProfiles(file);
  const profile = name === undefined ? undefined : profiles[name];
  if (profile?.client === undefined) return name;
  return Object.keys(profiles).find((one) => isForSame(profiles[one] ?? profile, profile)) ?? name;
}

/** A gateway's slug may be anything. */
function baseName({ slug = '' }: Profile): string {
  return PROFILE_NAME.test(slug) ? slug : 'project';
}

/** Makes a profile the current one. */
export function useProfile(file: string, name: string): Profile {
  let chosen: Profile | null = null;
  orRefused(() =>
    changeCredentials(file, (stored) => {
      const { profiles } = stored ?? NONE;
      chosen = existing(name, stored ?? NONE);
      return { profiles, current: name };
    }),
  );
  return chosen ?? existing(name, storedProfiles(file));
}

/**
 * Removes a profile and returns the current one: unchanged, otherwise this machine's own or another; null if none is
 * left.
 */
export function removeProfile(file: string, name: string): string | null {
  let current: string | null = null;
  orRefused(() =>
    changeCredentials(file, (stored) => {
      const { [name]: _, ...profiles } = stored?.profiles ?? {};
      const [next = LOCAL_PROFILE] = Object.hasOwn(profiles, LOCAL_PROFILE)
        ? [LOCAL_PROFILE]
        : Object.keys(profiles).filter((one) => profiles[one]?.client === undefined);
      const chosen = stored && stored.current !== name ? stored.current : next;
      current = Object.hasOwn(profiles, chosen) ? chosen : null;
      return { profiles, current: chosen };
    }),
  );
  return current;
}

/** Returns this profile, or throws a usage error with a suggestion. */
export function existing(name: string, stored: Credentials): Profile {
  const profile = profileOf(stored, name);
  if (profile) return profile;
  const names = Object.keys(stored.profiles);
  throw usageError(
    `No profile "${name}".${didYouMean(name, names)}`,
    names.length > 0
      ? `Stored profiles: ${names.join(', ')}`
      : 'No profiles yet. Start with: svc up, or svc login --gateway URL',
  );
}

function orRefused<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError({
      code: 'CREDENTIALS_INVALID',
      message: messageOf(error),
      hint: 'See: svc doctor',
      exit: EXIT.signedOut,
    });
  }
}
