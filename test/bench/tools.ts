import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

const PACKAGES = {
  wrk: 'wrk',
  strace: 'strace',
  postgres: 'postgresql-15',
  etcd: 'etcd-server',
  nginx: 'nginx-light libnginx-mod-http-dav-ext',
} as const;

type Tool = keyof typeof PACKAGES;

const POSTGRES_FOLDER = '/usr/lib/postgresql/15/bin';

/** The path of an outside program, or null. */
export function findTool(tool: Tool): string | null {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  for (const folder of [POSTGRES_FOLDER, '/usr/sbin', ...folders]) {
    const path = join(folder, tool);
    if (isExecutable(path)) return path;
  }
  return null;
}

/** Why a row is skipped without the tool. */
export function missing(tool: Tool): string {
  return `needs ${tool}: apt install ${PACKAGES[tool]}`;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
