import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
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

/** Builds the bundle when a source is newer than it. Test files run side by side: one builds, the others wait. */
export function freshBuild(): void {
  const lock = join(
    tmpdir(),
    `svc-build-${createHash('sha256').update(SVC).digest('hex').slice(0, 16)}`,
  );
  const endsAt = Date.now() + 60_000;
  while (isStale()) {
    if (!takeLock(lock)) {
      // A lock of this age was left by a run that was ended.
      if (Date.now() > endsAt) rmSync(lock, { recursive: true, force: true });
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
      continue;
    }
    try {
      if (isStale()) execFileSync('npm', ['run', 'build'], { stdio: 'ignore' });
    } finally {
      rmSync(lock, { recursive: true, force: true });
    }
  }
}

function isStale(): boolean {
  const built = [SVC, DAEMON].map(
    (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0,
  );
  const sources = Math.max(newest(SOURCES), statSync('build.mjs').mtimeMs);
  return sources > Math.min(...built);
}

function takeLock(path: string): boolean {
  try {
    mkdirSync(path);
    return true;
  } catch {
    return false;
  }
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

export function svc(
  home: string,
  args: string[],
  env: Record<string, string> = {},
): Promise<string> {
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
