import { randomInt } from 'node:crypto';
import { accessSync, constants } from 'node:fs';
import { createServer } from 'node:net';
import { delimiter, join } from 'node:path';

/** The path of a program of this machine, or null. `folders` are looked through first. */
export function findProgram(name: string, folders: readonly string[] = []): string | null {
  const path = (process.env['PATH'] ?? '').split(delimiter);
  const all = [...folders, '/usr/sbin', ...path].map((folder) => join(folder, name));
  return all.find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Below the ports that Linux picks itself, so no program gets one of these by chance. */
const PORTS = { from: 20_000, to: 32_768 } as const;
const given = new Set<number>();

/** A port that was free a moment ago, for programs that cannot choose one. Never the same one twice in a process. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(PORTS.from, PORTS.to);
    if (given.has(port)) continue;
    given.add(port);
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const isListening = await new Promise<boolean>((done) => {
    server.once('error', () => done(false));
    server.listen(port, '127.0.0.1', () => done(true));
  });
  if (isListening) await new Promise((done) => server.close(done));
  return isListening;
}
