import {
  accessSync,
  closeSync,
  constants,
  openSync,
  readFileSync,
  readSync,
  realpathSync,
} from 'node:fs';
import { delimiter, dirname, join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import { isObject } from '../shared/lib/guards.ts';
import { shellWord } from './view/terminal-text.ts';

interface ProcessInfo {
  /** The script that Node runs, as it was started. */
  readonly script: string;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
}

const START_MS = 30_000;

/** What the user types to start this program again: `svc` if it's on PATH, otherwise `npx …` or its path. */
export function ownCommand(started: ProcessInfo): string {
  const { script, env, cwd } = started;
  const real = realOf(script);
  if (real === null || isOnPath(real, env)) return 'svc';
  return isNearby(real, cwd) ? 'npx svc' : (npxPackage(script, cwd) ?? shellWord(script));
}

/** Homebrew's path of one release, which the next release removes. */
const BREWED = /^(.*)\/Cellar\/([^/]+)\/[^/]+\/(bin\/[^/]+)$/;

/** A path to the program that still works after an update, if there is one. */
export function lastingPath(path: string): string {
  const [, prefix, formula, program] = BREWED.exec(path) ?? [];
  if (prefix === undefined || formula === undefined || program === undefined) return path;
  const lasting = join(prefix, 'opt', formula, program);
  return realOf(lasting) === realOf(path) ? lasting : path;
}

/** Why a command doesn't say its version in this environment; null if it does. */
export async function startProblem(
  [program = '', ...words]: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<string | null> {
  const { execFile } = await import('node:child_process');
  try {
    await promisify(execFile)(program, [...words, '--version'], { env, timeout: START_MS });
    return null;
  } catch (error) {
    const { message } = error as Error;
    return message;
  }
}

/** The real path of the program that a shell would start; null if it's on no folder of PATH. */
function programOnPath(name: string, env: NodeJS.ProcessEnv): string | null {
  for (const folder of (env['PATH'] ?? '').split(delimiter)) {
    // npx and npm add their own folder to PATH only while they run; a client started later won't have it.
    if (folder === '' || folder.endsWith(join('node_modules', '.bin'))) continue;
    try {
      const path = join(folder, name);
      accessSync(path, constants.X_OK);
      return realpathSync(path);
    } catch {
      // Not in this folder.
    }
  }
  return null;
}

function isOnPath(real: string, env: NodeJS.ProcessEnv): boolean {
  const found = programOnPath('svc', env);
  return found !== null && (found === real || startsUs(found));
}

const SHIM_BYTES = 4096;

/** Whether a file is a small script that starts this program, as some package managers write it. */
function startsUs(path: string): boolean {
  const file = openSync(path, 'r');
  try {
    const start = Buffer.alloc(SHIM_BYTES);
    const text = start.toString('latin1', 0, readSync(file, start));
    return text.startsWith('#!') && text.includes(join('dist', 'svc.cjs'));
  } catch {
    return false;
  } finally {
    closeSync(file);
  }
}

/** `npx ./svc-agents.tgz` if npx unpacked a package to run it. Its folder says which package that was. */
function npxPackage(script: string, cwd: string): string | null {
  const [folder] = /^.*[\\/]_npx[\\/][^\\/]+/.exec(script) ?? [];
  if (folder === undefined) return null;
  const { _npx: npx, dependencies } = manifestOf(folder);
  const packages: unknown = isObject(npx) ? npx['packages'] : null;
  const [spec, ...others] = Array.isArray(packages) ? (packages as unknown[]) : [];
  if (typeof spec !== 'string' || others.length > 0) return null;
  const [file] = Object.values(isObject(dependencies) ? dependencies : {});
  if (!spec.startsWith('.') || typeof file !== 'string') return `npx ${shellWord(spec)}`;
  const path = resolve(folder, file.replace(/^file:/, ''));
  const near = relative(cwd, path);
  return `npx ${shellWord(near.startsWith('..') ? path : `./${near}`)}`;
}

/** Whether npx finds this program here: in a checkout, or in a folder that installed the package. */
function isNearby(real: string, cwd: string): boolean {
  for (let folder = cwd; ; folder = dirname(folder)) {
    if (realOf(join(folder, 'node_modules', '.bin', 'svc')) === real) return true;
    const isCheckout = manifestOf(folder)['name'] === 'svc-agents';
    if (isCheckout && dirname(dirname(real)) === folder) return true;
    if (folder === dirname(folder)) return false;
  }
}

function manifestOf(folder: string): Record<string, unknown> {
  try {
    const manifest: unknown = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    return isObject(manifest) ? manifest : {};
  } catch {
    return {};
  }
}

function realOf(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}
