import { StartRefusal } from '../shared/host/start-refusal.ts';
import { isObject, parseObject } from '../shared/lib/guards.ts';
import { readIfThere, writePrivateFile } from './files.ts';

/** The port until a user chooses another one. */
export const DEFAULT_PORT = 4780;

/** The port of an earlier start, or null. Throws `StartRefusal` for an invalid file, rather than switch the port. */
export function rememberedPort(settingsFile: string): number | null {
  const text = readIfThere(settingsFile);
  if (text === null) return null;
  const stored = parseObject(text);
  const port = isObject(stored) ? stored['port'] : undefined;
  if (isPort(port)) return port;
  throw new StartRefusal(
    `${settingsFile} has no port. Choose one: svc up --port N (default ${DEFAULT_PORT})`,
    'settings',
  );
}

/** Later starts reuse this port, because the addresses of sources and links contain it. */
export function rememberPort(settingsFile: string, port: number): void {
  writePrivateFile(settingsFile, `${JSON.stringify({ port }, null, 2)}\n`);
}

function isPort(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 && value < 65_536;
}
