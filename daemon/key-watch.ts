import { watch } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { Logger } from 'pino';
import { profileOf, readCredentials, type Profile } from './credentials.ts';

/** One replacement of a file can cause several notifications. */
const SETTLE_MS = 100;

/**
 * Calls `onKey` when a command stores another key for the same project of the same gateway, for example after a
 * rotation. Returns a function that stops the watch.
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
  // Watch the folder: each change replaces the file.
  const watcher = watch(dirname(file), { persistent: false }, (_event, name) => {
    if (name === null || name === basename(file)) lookSoon();
  });
  watcher.on('error', (error) => {
    log.warn({ err: error }, "can't watch the stored key: restart the daemon after rotating it");
  });
  // The key may have changed between the first read and now.
  lookSoon();
  return () => {
    watcher.close();
    if (timer) clearTimeout(timer);
  };
}

/** Also undefined while the file is unreadable: the next command that needs it reports the fault. */
function storedProfile(file: string, name: string): Profile | undefined {
  try {
    return profileOf(readCredentials(file), name);
  } catch {
    return undefined;
  }
}
