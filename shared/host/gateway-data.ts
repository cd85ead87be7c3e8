import { isAbsolute, join } from 'node:path';
import { userFolder } from './user-folder.ts';

/** Linux allows 107 bytes in a socket address, macOS 103. */
export const SOCKET_PATH_MAX_BYTES = 103;

/** A gateway's default data folder: a system folder for root, the user's own for everyone else. */
export function defaultDataFolder(env: NodeJS.ProcessEnv): string {
  if (process.geteuid?.() === 0) return '/var/lib/svc-gateway';
  const { XDG_DATA_HOME: xdg } = env;
  const data = xdg && isAbsolute(xdg) ? xdg : join(userFolder(env), '.local', 'share');
  return join(data, 'svc-gateway');
}

/**
 * The socket where a running gateway takes its operator's calls. It doesn't exist if the path exceeds
 * SOCKET_PATH_MAX_BYTES.
 */
export function operatorSocketPath(dataFolder: string): string {
  return join(dataFolder, 'operator.sock');
}
