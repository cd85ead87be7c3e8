import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** The bundle as `npm run build` makes it. */
const SVC = resolve('dist/svc.cjs');

interface Up {
  readonly base_url: string;
  readonly socket: string;
  readonly project: string;
  readonly pid: number;
}

/** Starts the real daemon with its data under `home`. */
export function svcUp(home: string, env: Record<string, string> = {}): Promise<Up> {
  return svc(home, ['up', '--port', '0', '--json'], env).then((out) => JSON.parse(out) as Up);
}

export function svc(
  home: string,
  args: string[],
  env: Record<string, string> = {},
  cwd = process.cwd(),
): Promise<string> {
  return new Promise((done, fail) => {
    const options = { cwd, env: { ...process.env, ...env, SVC_HOME: home } };
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

/** True while the process runs. */
export function runs(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
}
