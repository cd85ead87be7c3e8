import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';

const SEEN_BY_THE_BUILD = [
  'cli',
  'clients',
  'daemon',
  'gateway',
  'shared',
  'node_modules',
  'package.json',
  'SKILL.md',
];

/**
 * Builds the executable as `npm run build` does, but below this folder, so that it is never older than its sources and
 * nobody else's is replaced. Returns the path of `dist/svc.cjs`.
 */
export function buildBundle(folder: string): string {
  mkdirSync(folder, { recursive: true });
  for (const name of SEEN_BY_THE_BUILD) symlinkSync(resolve(name), join(folder, name));
  // The build adds to its copy, which would be the folder itself if this were a link.
  cpSync('plugin', join(folder, 'plugin'), { recursive: true });
  execFileSync(process.execPath, [resolve('build.mjs')], { cwd: folder, stdio: 'pipe' });
  return join(folder, 'dist', 'svc.cjs');
}
