import { execFileSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const BUILT = ['dist/svc.cjs', 'dist/daemon.js', 'dist/client/main.js'];
const SOURCES = ['cli', 'clients', 'daemon', 'gateway', 'shared', 'build.mjs'];

/** Builds the program when a source is newer than it: once for a run of tests, by `vitest.config.ts`. */
export default function freshBuild(): void {
  const built = BUILT.map((path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0);
  if (Math.max(...SOURCES.map(newest)) > Math.min(...built)) {
    execFileSync('npm', ['run', 'build'], { stdio: 'ignore' });
  }
}

function newest(path: string): number {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.mtimeMs;
  return Math.max(0, ...readdirSync(path).map((name) => newest(join(path, name))));
}
