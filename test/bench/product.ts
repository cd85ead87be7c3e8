import { execFile, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { plainEnvironment, REPOSITORY } from './children.ts';

const execute = promisify(execFile);
const SOURCES = ['cli', 'clients', 'daemon', 'gateway', 'shared', 'build.mjs'];
const END_WITHIN_MS = 10_000;

/** The executable as it ships. */
export const EXECUTABLE = join(REPOSITORY, 'dist', 'svc.cjs');

/** Builds the product unless what is built is newer than every source. */
export async function buildProduct(progress: (text: string) => void): Promise<void> {
  const built = existsSync(EXECUTABLE) ? statSync(EXECUTABLE).mtimeMs : 0;
  const newest = Math.max(...SOURCES.map((name) => newestIn(join(REPOSITORY, name))));
  if (built > newest) return;
  progress('building');
  await execute(process.execPath, ['build.mjs'], { cwd: REPOSITORY });
}

function newestIn(path: string): number {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.mtimeMs;
  return Math.max(0, ...readdirSync(path).map((name) => newestIn(join(path, name))));
}

/** A daemon in local mode with a home of its own. */
export class ProductDaemon {
  readonly pid: number;
  readonly environment: NodeJS.ProcessEnv;

  private constructor(pid: number, environment: NodeJS.ProcessEnv) {
    this.pid = pid;
    this.environment = environment;
  }

  static async start(home: string): Promise<ProductDaemon> {
    const environment = { ...plainEnvironment(), SVC_HOME: home };
    await execute(process.execPath, [EXECUTABLE, 'up', '--port', '0'], { env: environment });
    const record = JSON.parse(readFileSync(join(home, 'daemon.json'), 'utf8')) as { pid: number };
    return new ProductDaemon(record.pid, environment);
  }

  async end(): Promise<void> {
    if (!existsSync(`/proc/${this.pid}`)) return;
    process.kill(this.pid, 'SIGTERM');
    const deadline = performance.now() + END_WITHIN_MS;
    while (existsSync(`/proc/${this.pid}`)) {
      if (performance.now() > deadline) process.kill(this.pid, 'SIGKILL');
      await sleep(50);
    }
  }
}

/** Milliseconds from the start of a process to its end. */
export function timeOfProcess(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
  exitCode = 0,
): number {
  const start = performance.now();
  const { status, stderr } = spawnSync(process.execPath, args, { env: environment });
  const ms = performance.now() - start;
  if (status !== exitCode)
    throw new Error(`${args.join(' ')} ended with ${status}: ${stderr.toString()}`);
  return ms;
}
