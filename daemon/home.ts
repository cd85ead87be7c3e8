import { lstatSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';

/** Where the CLI and the daemon keep things: one folder under SVC_HOME, or the XDG folders. */
export interface Home {
  /** `credentials.json`, mode 0600: the stored key of each profile and its gateway. */
  readonly credentialsFile: string;
  /** What a running daemon says of itself. */
  readonly daemonFile: string;
  /** What was chosen at a start and holds at later ones. Beside the data, whose addresses have the port in them. */
  readonly settingsFile: string;
  /** Inside the data folder, so that it guards the data however the other folders are set. */
  readonly lockFile: string;
  readonly logFile: string;
  readonly socketPath: string;
  /** Databases and blobs of local mode. */
  readonly dataFolder: string;
  /** The newest ledger head this machine has seen, by project. */
  readonly ledgerHeadsFile: string;
  /** Sign-ins begun on this machine that wait to be confirmed. */
  readonly loginsFolder: string;
}

interface Folders {
  readonly config: string;
  readonly state: string;
  readonly data: string;
}

/** Linux takes 107 bytes in a socket address, macOS 103. */
const SOCKET_PATH_MAX_BYTES = 100;

/**
 * The places of this user, from the environment alone; nothing is created. Throws when the folder
 * of a short socket path belongs to somebody else.
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

// The same on every system, as other command line tools do it. The package env-paths reads
// `process.env` when it is imported, so it can neither be told an environment nor be tested.
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

/** The XDG specification says to ignore paths that are not absolute. */
function xdg(path: string | undefined): string | null {
  return path && isAbsolute(path) ? path : null;
}

function socketPath(state: string): string {
  const path = join(state, 'svc.sock');
  if (Buffer.byteLength(path) <= SOCKET_PATH_MAX_BYTES) return path;
  // Loaded here, as it costs a command 5 ms and short paths need none.
  const { createHash } = process.getBuiltinModule('node:crypto');
  const hash = createHash('sha256').update(state).digest('hex').slice(0, 16);
  // Not TMPDIR: it differs between shells, and both sides must find the same socket.
  const folder = join('/tmp', `svc-${userInfo().uid}-${hash}`);
  refuseForeign(folder);
  return join(folder, 'svc.sock');
}

/** Everyone may create names in the temp folder: a key is sent only into a folder that is ours. */
function refuseForeign(folder: string): void {
  const stat = lstatSync(folder, { throwIfNoEntry: false });
  if (!stat) return;
  if (stat.isDirectory() && stat.uid === userInfo().uid && (stat.mode & 0o077) === 0) return;
  throw new Error(
    `${folder} isn't a private folder of this user. Remove it, or set a shorter SVC_HOME.`,
  );
}
