import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { required } from '../helpers/require.ts';

const LOCK_MAX_AGE_MS = 300_000;
const OLD_MS = 3_600_000;
/** How npm says that it could not reach what it needs. */
const UNREACHABLE = /ENOTFOUND|ENOTCACHED|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENETUNREACH/;

/** The package of this repository, installed as `npm install` does it. */
export interface Installed {
  /** What `npm pack` made. */
  readonly tarball: string;
  /** The folder it was installed in: `node_modules` and nothing else of ours. */
  readonly folder: string;
  /** The command, as npm links it. */
  readonly command: string;
}

/**
 * Packs what is built and installs it outside the repository, where only its own dependencies are found. The first test file
 * that asks does it, the others wait. Null where npm reaches no registry and that is allowed.
 */
export async function installPackage(): Promise<Installed | null> {
  const place = join(tmpdir(), `svc-packed-${digest(resolve('.'))}`);
  mkdirSync(place, { recursive: true });
  return alone(join(place, 'lock'), () => {
    const tarball = pack(place);
    const folder = join(place, `${digest(readFileSync(tarball))}-node-${process.versions.node}`);
    const refusal = existsSync(folder) ? '' : install(tarball, folder);
    if (!required('the installed package', refusal === '', 'npm reaches no registry')) return null;
    return { tarball, folder, command: join(folder, 'node_modules', '.bin', 'svc') };
  });
}

function digest(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex').slice(0, 16);
}

function pack(place: string): string {
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', place];
  const packed = execFileSync('npm', args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return join(place, (JSON.parse(packed) as { filename: string }[])[0]?.filename ?? '');
}

/** Takes the place of `folder` when it is complete. Returns what npm said where it reached no registry. */
function install(tarball: string, folder: string): string {
  const making = `${folder}.making`;
  rmSync(making, { recursive: true, force: true });
  mkdirSync(making);
  writeFileSync(join(making, 'package.json'), '{ "private": true }\n');
  const args = ['install', '--prefer-offline', '--no-audit', '--no-fund', tarball];
  const { status, stderr } = spawnSync('npm', args, { cwd: making, encoding: 'utf8' });
  if (status === 0) {
    renameSync(making, folder);
    removeOld(dirname(folder));
  }
  if (status !== 0 && !UNREACHABLE.test(stderr)) throw new Error(stderr);
  return status === 0 ? '' : stderr;
}

/** Installs of earlier builds, which nobody uses any more. */
function removeOld(place: string): void {
  for (const name of readdirSync(place)) {
    const path = join(place, name);
    if (statSync(path).mtimeMs < Date.now() - OLD_MS)
      rmSync(path, { recursive: true, force: true });
  }
}

/** One process at a time. */
async function alone<T>(lock: string, work: () => T): Promise<T> {
  for (;;) {
    try {
      mkdirSync(lock);
      break;
    } catch {
      const made = statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
      // One of this age was left by a run that was ended.
      if (Date.now() - made > LOCK_MAX_AGE_MS) rmSync(lock, { recursive: true, force: true });
      await sleep(100);
    }
  }
  try {
    return work();
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}
