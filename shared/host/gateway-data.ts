import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/** Linux takes 107 bytes in a socket address, macOS 103. */
export const SOCKET_PATH_MAX_BYTES = 103;

/** Where a gateway has its data unless told otherwise: a folder of the system for root, of the user for anybody else. */
export function defaultDataFolder(env: NodeJS.ProcessEnv): string {
  if (process.geteuid?.() === 0) return '/var/lib/svc-gateway';
  const { XDG_DATA_HOME: xdg } = env;
  const user = env['HOME'] || homedir();
  return join(xdg && isAbsolute(xdg) ? xdg : join(user, '.local', 'share'), 'svc-gateway');
}

/** Where a running gateway takes the orders of its operator. Longer than SOCKET_PATH_MAX_BYTES there is no such place. */
export function operatorSocketPath(dataFolder: string): string {
  return join(dataFolder, 'operator.sock');
}
