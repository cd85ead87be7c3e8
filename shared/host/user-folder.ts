import { userInfo } from 'node:os';
import { isAbsolute } from 'node:path';
import { StartRefusal } from './start-refusal.ts';

/**
 * The user's own folder: HOME, or else what the list of users says. Throws `StartRefusal` if neither names a folder. Not
 * `os.homedir()`, which takes an empty HOME for the current folder.
 */
export function userFolder(env: NodeJS.ProcessEnv): string {
  const given = env['HOME'];
  if (given && isAbsolute(given)) return given;
  const listed = listedFolder();
  if (listed !== null) return listed;
  const what = given ? `HOME isn't an absolute path: "${given}"` : 'HOME is not set';
  throw new StartRefusal(
    `${what}, and the list of users names no folder for uid ${process.geteuid?.()}. Set HOME or SVC_HOME to a folder of your own.`,
    'settings',
  );
}

function listedFolder(): string | null {
  try {
    const { homedir } = userInfo();
    return isAbsolute(homedir) ? homedir : null;
  } catch {
    // Containers often run as a user that no list of users has.
    return null;
  }
}
