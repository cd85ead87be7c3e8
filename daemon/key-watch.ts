import { watch } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { Logger } from 'pino';
import { profileOf, readCredentials, type Profile } from './credentials.ts';

/** A file is replaced in one step, but the system may tell of it more than once. */
const SETTLE_MS = 100;

/**
 * Calls back when another key is stored for the same project of the same gateway, as after its rotation. Answers how to
 * stop it.
 */
export function watchKey(
  watched: {
    readonly file: string;
    readonly profileName: string;
    readonly profile: Profile;
    readonly log: Logger;
  },
  onKey: (apiKey: string) => void,
): () => void {
  const { file, profileName, profile, log } = watched;
  let known = profile.api_key;
  let timer: NodeJS.Timeout | null = null;
  const lookSoon = (): void => {
    timer ??= setTimeout(look, SETTLE_MS);
  };
  const look = (): void => {
    timer = null;
    const stored = storedProfile(file, profileName);
    const isSame = stored?.gateway === profile.gateway && stored.project === profile.project;
    if (!isSame || stored.api_key === known) return;
    known = stored.api_key;
    onKey(known);
  };
  // The folder, since the file is replaced and not written.
  const watcher = watch(dirname(file), { persistent: false }, (_event, name) => {
    if (name === null || name === basename(file)) lookSoon();
  });
  watcher.on('error', (error) => {
    log.warn({ err: error }, "can't watch the stored key: restart the daemon after rotating it");
  });
  // It may have been replaced between when it was read and now.
  lookSoon();
  return () => {
    watcher.close();
    if (timer) clearTimeout(timer);
  };
}

/** Undefined as well while the file cannot be read: whoever needs it next is told so. */
function storedProfile(file: string, name: string): Profile | undefined {
  try {
    return profileOf(readCredentials(file), name);
  } catch {
    return undefined;
  }
}
