import { execFile, execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** The bundle as `npm run build` makes it. */
const SVC = resolve('dist/svc.cjs');
const DAEMON = resolve('dist/daemon.js');
const SOURCES = ['cli', 'daemon', 'gateway', 'shared'];

interface Up {
  readonly base_url: string;
  readonly project: string;
  readonly pid: number;
}

/** Builds the bundle when a source is newer than it. */
export function freshBuild(): void {
  const built = [SVC, DAEMON].map((path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0);
  if (newest(SOURCES) > Math.min(...built)) execFileSync('npm', ['run', 'build'], { stdio: 'ignore' });
}

function newest(folders: readonly string[]): number {
  let latest = 0;
  for (const folder of folders) {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      const time = entry.isDirectory() ? newest([path]) : statSync(path).mtimeMs;
      latest = Math.max(latest, time);
    }
  }
  return latest;
}

/** Starts the real daemon with its data under `home`. */
export function svcUp(home: string, env: Record<string, string> = {}): Promise<Up> {
  return svc(home, ['up', '--port', '0', '--json'], env).then((out) => JSON.parse(out) as Up);
}

export function svc(home: string, args: string[], env: Record<string, string> = {}): Promise<string> {
  return new Promise((done, fail) => {
    const options = { env: { ...process.env, ...env, SVC_HOME: home } };
    execFile(process.execPath, [SVC, ...args], options, (error, out, err) => {
      if (error) fail(new Error(`svc ${args.join(' ')}: ${err || error.message}`));
      else done(out);
    });
  });
}

/** The key the CLI keeps for this home. */
export async function keyOf(home: string): Promise<string> {
  return (await svc(home, ['auth', 'token'])).trim();
}

/** Files anywhere under a folder, by their paths. */
export function filesUnder(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesUnder(path) : [path];
  });
}

/** True while the process runs. */
export function runs(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
}
