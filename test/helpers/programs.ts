import { accessSync, constants } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
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

/** A port that was free a moment ago, for programs that cannot choose one. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}
