import { lstatSync, statSync, type Stats } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { StartRefusal } from '../shared/host/start-refusal.ts';
import { userFolder } from '../shared/host/user-folder.ts';

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
/** Permissions of a group and of everybody. */
const OTHERS_WRITE = 0o022;
const OTHERS_ANYTHING = 0o077;
const EVERYBODY_WRITES = 0o002;

/**
 * This user's paths, from the environment alone; creates nothing. Throws `StartRefusal` if somebody else could put a
 * socket or a file there: we send our key to that socket, and believe those files.
 */
export function resolveHome(env: NodeJS.ProcessEnv): Home {
  const { config, state, data } = folders(env);
  for (const folder of new Set([config, state, data])) refuseForeign(folder, OTHERS_WRITE);
  const home = {
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
  // Somebody may have left them while the folder was open.
  const { credentialsFile, daemonFile, settingsFile, socketPath: socket } = home;
  for (const path of [credentialsFile, daemonFile, settingsFile, socket]) refuseForeign(path, 0);
  return home;
}

// Every system gets the same folders, like other command line tools. The env-paths package reads `process.env` at
// import, so a test can't pass it an environment.
function folders(env: NodeJS.ProcessEnv): Folders {
  if (env['SVC_HOME']) {
    const home = resolve(env['SVC_HOME']);
    return { config: home, state: home, data: join(home, 'data') };
  }
  const folder = (name: string, ...usual: string[]): string =>
    join(xdg(env[name]) ?? join(userFolder(env), ...usual), 'svc');
  return {
    config: folder('XDG_CONFIG_HOME', '.config'),
    state: folder('XDG_STATE_HOME', '.local', 'state'),
    data: folder('XDG_DATA_HOME', '.local', 'share'),
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
  const folder = join('/tmp', `svc-${process.geteuid?.()}-${hash}`);
  // Everyone can create files in /tmp.
  refuseForeign(folder, OTHERS_ANYTHING);
  return join(folder, 'svc.sock');
}

/** Refuses what belongs to somebody else, or what others have these permissions for. Root is nobody else. */
function refuseForeign(path: string, permissions: number): void {
  const [link, target] = looksAt(path);
  if (!link || !target) return;
  // Not `userInfo()`: containers often run as a user that no list of users has.
  const [uid, gid] = [process.geteuid?.(), process.getegid?.()];
  const owner = [link.uid, target.uid].find((one) => one !== uid && one !== 0);
  if (owner !== undefined) {
    const cure = 'Remove it, or set SVC_HOME to a folder of your own.';
    throw new StartRefusal(`${path} belongs to another user (uid ${owner}). ${cure}`, 'settings');
  }
  // Root's group is nobody else, and many systems give each user a group of their own, with the same number.
  const isOwnGroup = target.gid === 0 || (uid === gid && target.gid === gid);
  const refused = isOwnGroup && permissions === OTHERS_WRITE ? EVERYBODY_WRITES : permissions;
  if ((target.mode & refused) === 0) return;
  const mode = permissions === OTHERS_WRITE ? 'go-w' : 'go=';
  const cure = `Run: chmod ${mode} ${path}. Or set SVC_HOME to a folder of your own.`;
  throw new StartRefusal(
    `Others can put files into ${path}, so svc can't trust it. ${cure}`,
    'settings',
  );
}

/** A path and what it leads to; both undefined for a path that this user can't look at: its use says why. */
function looksAt(path: string): (Stats | undefined)[] {
  try {
    return [lstatSync, statSync].map((look) => look(path, { throwIfNoEntry: false }));
  } catch {
    return [];
  }
}
