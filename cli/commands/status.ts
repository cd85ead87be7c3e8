import { folderBytes } from '../../daemon/folder-size.ts';
import type { Home } from '../../daemon/home.ts';
import { askStatus } from '../../daemon/probe.ts';
import { lockHolder } from '../../shared/processes.ts';
import type { DaemonStatus } from '../../daemon/record.ts';
import type { CommandContext, Declaration } from '../command.ts';
import { EXIT } from '../exit.ts';
import { statusView } from '../view/status.ts';

export const declaration: Declaration = {
  summary: 'Show whether the daemon runs, where, and how people are asked.',
  description:
    'Over a gateway also how the copy of the project stands, and where reads come from. Exit code 0 when it runs, 3 when it does not, 7 when it runs but does not answer.',
  args: [],
  options: [],
  examples: ['status', 'status --json | jq -r .base_url', 'status --json | jq .replica'],
  seeAlso: ['doctor', 'logs', 'up'],
};

/** `svc status`: whether the daemon runs, where and since when. Exit code 3 when it does not, 7 when it is silent. */
export async function run({ home, output }: CommandContext): Promise<number> {
  const [status, dataBytes] = await Promise.all([
    askStatus(home.socketPath),
    folderBytes(home.dataFolder),
  ]);
  const silentPid = status ? null : lockHolder(home.lockFile);
  const daemon = status ? fieldsOf(status) : silentFields(silentPid);
  if (output.json || status) {
    const view = status ? statusView(status, { ...home, dataBytes }) : {};
    output.answer({ ...daemon, ...homeFields(home, dataBytes) }, view);
  } else if (silentPid === null) output.line('Not running. Start it with: svc up');
  else output.line(`Pid ${silentPid} has the data but does not answer. If it stays so: svc down`);
  if (status) return EXIT.done;
  return silentPid === null ? EXIT.nothing : EXIT.unreachable;
}

/** It hangs, or is just starting. */
function silentFields(pid: number | null): Record<string, unknown> {
  return pid === null ? { running: false } : { running: true, state: 'silent', pid };
}

function fieldsOf(status: DaemonStatus): Record<string, unknown> {
  const { instance: _, memory, uptime_seconds, started_at, ...fields } = status;
  return { running: true, ...fields, started_at, uptime_seconds, memory_bytes: memory.rss_bytes };
}

function homeFields(home: Home, dataBytes: number): Record<string, unknown> {
  return { data_folder: home.dataFolder, data_bytes: dataBytes, log_file: home.logFile };
}
