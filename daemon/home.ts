import { lstatSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';

/** Where the CLI and the daemon keep their files: one folder in SVC_HOME, or the XDG folders. */
export interface Home {
  /** `credentials.json`, mode 0600: the stored key of each profile and its gateway. */
  readonly credentialsFile: string;
  /** The running daemon's record of itself. */
  readonly daemonFile: string;
  /** Choices that outlive a start. They stay with the data, because its addresses contain the port. */
  readonly settingsFile: string;
  /** In the data folder, so that it guards the data wherever the other folders are. */
  readonly lockFile: string;
  readonly logFile: string;
  readonly socketPath: string;
  /** Databases and blobs of local mode. */
  readonly dataFolder: string;
  /** The newest ledger head this machine knows, by project. */
  readonly ledgerHeadsFile: string;
  /** Sign-ins that began on this machine and wait for a person to confirm them. */
  readonly loginsFolder: string;
}

interface Folders {
  readonly config: string;
  readonly state: string;
  readonly data: string;
}

/** Linux allows 107 bytes in a socket address, macOS 103. */
const SOCKET_PATH_MAX_BYTES = 100;

/**
 * This user's paths, from the environment alone; creates nothing. Throws if the folder of a shortened socket path
 * belongs to somebody else.
 */
export function resolveHome(env: NodeJS.ProcessEnv): Home {
  const { config, state, data } = folders(env);
  return {
    credentialsFile: join(config, 'credentials.json'),
    daemonFile: join(state, 'daemon.json'),
    settingsFile: join(data, 'settings.json'),
    lockFile: join(data, 'lock'),
    logFile: join(state, 'daemon.log'),
    socketPath: socketPath(state),
    dataFolder: data,
    ledgerHeadsFile: join(state, 'ledger-heads.json'),
    loginsFolder: join(state, 'logins'),
  };
}

// Every system gets the same folders, like other command line tools. The env-paths package reads `process.env` at
// import, so a test can't pass it an environment.
function folders(env: NodeJS.ProcessEnv): Folders {
  if (env['SVC_HOME']) {
    const home = resolve(env['SVC_HOME']);
    return { config: home, state: home, data: join(home, 'data') };
  }
  const user = env['HOME'] || homedir();
  return {
    config: join(xdg(env['XDG_CONFIG_HOME']) ?? join(user, '.config'), 'svc'),
    state: join(xdg(env['XDG_STATE_HOME']) ?? join(user, '.local', 'state'), 'svc'),
    data: join(xdg(env['XDG_DATA_HOME']) ?? join(user, '.local', 'share'), 'svc'),
  };
}

/** The XDG specification says to ignore relative paths. */
function xdg(path: string | undefined): string | null {
  return path && isAbsolute(path) ? path : null;
}

function socketPath(state: string): string {
  const path = join(state, 'svc.sock');
  if (Buffer.byteLength(path) <= SOCKET_PATH_MAX_BYTES) return path;
  // Loaded only here: it costs a command 5 ms, and short paths don't need it.
  const { createHash } = process.getBuiltinModule('node:crypto');
  const hash = createHash('sha256').update(state).digest('hex').slice(0, 16);
  // Not TMPDIR: it differs between shells, and both sides must find the same socket.
  const folder = join('/tmp', `svc-${userInfo().uid}-${hash}`);
  refuseForeign(folder);
  return join(folder, 'svc.sock');
}

/** Everyone can create files in /tmp: we send a key only to a socket in a folder of our own. */
function refuseForeign(folder: string): void {
  const stat = lstatSync(folder, { throwIfNoEntry: false });
  if (!stat) return;
  if (stat.isDirectory() && stat.uid === userInfo().uid && (stat.mode & 0o077) === 0) return;
  throw new Error(
    `${folder} isn't a private folder of this user. Remove it, or set a shorter SVC_HOME.`,
  );
}
