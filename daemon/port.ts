import { StartRefused } from '../shared/host/start-refused.ts';
import { isObject, parseObject } from '../shared/lib/guards.ts';
import { readIfThere, writePrivateFile } from './files.ts';

/** Where the daemon listens until another port is chosen. */
export const DEFAULT_PORT = 4780;

/** The port chosen at an earlier start, or null. `StartRefused` where the file is no settings file: no other port is taken unasked. */
export function rememberedPort(settingsFile: string): number | null {
  const text = readIfThere(settingsFile);
  if (text === null) return null;
  const stored = parseObject(text);
  const port = isObject(stored) ? stored['port'] : undefined;
  if (isPort(port)) return port;
  throw new StartRefused(
    `${settingsFile} has no port. Choose one: svc up --port N (default ${DEFAULT_PORT})`,
    'settings',
  );
}

/** Later starts take this port: addresses of sources and links have it in them. */
export function rememberPort(settingsFile: string, port: number): void {
  writePrivateFile(settingsFile, `${JSON.stringify({ port }, null, 2)}\n`);
}

function isPort(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 && value < 65_536;
}
