import { findProgram } from '../helpers/programs.ts';

const PACKAGES = {
  wrk: 'wrk',
  strace: 'strace',
  postgres: 'postgresql-15',
  etcd: 'etcd-server',
  nginx: 'nginx-light libnginx-mod-http-dav-ext',
  haproxy: 'haproxy',
  'smtp-sink': 'postfix',
} as const;

type Tool = keyof typeof PACKAGES;

const POSTGRES_FOLDER = '/usr/lib/postgresql/15/bin';

/** The path of an outside program, or null. */
export function findTool(tool: Tool): string | null {
  return findProgram(tool, [POSTGRES_FOLDER, '/usr/sbin']);
}

/** Why a row is skipped without the tool. */
export function missing(tool: Tool): string {
  return `needs ${tool}: apt install ${PACKAGES[tool]}`;
}
