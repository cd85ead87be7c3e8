import { existsSync } from 'node:fs';
import { folderBytes } from '../../daemon/folder-size.ts';
import type { Home } from '../../daemon/home.ts';
import { askStatus } from '../../daemon/probe.ts';
import type { DaemonStatus, DiskReport } from '../../daemon/record.ts';
import { lockHolder } from '../../shared/host/processes.ts';
import { pluralize } from '../../shared/lib/pluralize.ts';
import { writeTrouble, type WriteTrouble } from '../../shared/host/writable.ts';
import { waitingEvents, waitingPairs, type WaitingEvents } from '../approvals/waiting-events.ts';
import type { CommandContext, Declaration } from '../command.ts';
import { EXIT } from '../exit.ts';
import { WATCH_OPTION } from '../input/flags.ts';
import { projectText } from '../view/project-text.ts';
import type { View } from '../view/output.ts';
import { adviceLines, messagingAdvice, messagingPairs } from '../view/messaging-status.ts';
import { sizeText } from '../view/sizes.ts';
import { timeText, type Look } from '../view/table.ts';
import { safeLine } from '../view/terminal-text.ts';
import { damageAdvice, damageText } from '../view/damage.ts';
import { pairLines } from '../view/pairs.ts';
import { inboxUrl } from '../view/inbox-url.ts';
import { replicaAdvice, replicaPairs } from '../view/status-replica.ts';

export const declaration: Declaration = {
  summary: 'Show whether the daemon is running, and where requests to people go.',
  description:
    "Also shows how many parked events wait for people, and since when. With a gateway, also shows the replica's state and where reads come from. Exit code 0: running; 3: not running; 7: running but not answering.",
  args: [],
  options: [WATCH_OPTION],
  examples: ['status', 'status --json | jq -r .base_url', 'status --json | jq .replica'],
  seeAlso: ['doctor', 'logs', 'up'],
};

/**
 * `svc status`: whether the daemon runs, where and since when. Exit code 3 if it doesn't run, 7 if it doesn't answer.
 */
export async function run(context: CommandContext): Promise<number> {
  const status = await askStatus(context.home.socketPath);
  return status ? showRunning(context, status) : showSilent(context);
}

async function showRunning(context: CommandContext, status: DaemonStatus): Promise<number> {
  const { client, home, output } = context;
  const isReady = status.state === 'ready';
  const [dataBytes, waiting, project] = await Promise.all([
    folderBytes(home.dataFolder),
    isReady ? waitingEvents(client) : null,
    isReady && !output.json ? projectText(context, status.project) : (status.project ?? '–'),
  ]);
  output.answer(
    { ...fieldsOf(status), ...(waiting && { waiting }), ...homeFields(home, dataBytes) },
    statusView(status, { ...home, dataBytes, waiting, project }),
  );
  return EXIT.done;
}

async function showSilent({ home, output }: CommandContext): Promise<number> {
  const pid = lockHolder(home.lockFile);
  const trouble = pid === null ? await startTrouble(home) : null;
  if (output.json) {
    const dataBytes = await folderBytes(home.dataFolder);
    const daemon = { ...silentFields(pid), ...(trouble && { disk: { trouble } }) };
    output.answer({ ...daemon, ...homeFields(home, dataBytes) }, {});
  } else output.advise(silentText(pid, trouble));
  return pid === null ? EXIT.nothing : EXIT.unreachable;
}

function silentText(pid: number | null, trouble: WriteTrouble | null): string {
  if (pid !== null) {
    return `Pid ${pid} holds the data but doesn't answer. If that doesn't change: svc down`;
  }
  if (trouble) return `Not running, and it can't start: ${trouble.text}. ${trouble.cure}`;
  return 'Not running. Start it with: svc up';
}

/** Why a start would fail: a disk that failed a write also ended the daemon. */
async function startTrouble({ dataFolder }: Home): Promise<WriteTrouble | null> {
  return existsSync(dataFolder) ? writeTrouble(dataFolder) : null;
}

/** The daemon hangs, or is just starting. */
function silentFields(pid: number | null): Record<string, unknown> {
  return pid === null ? { running: false } : { running: true, state: 'silent', pid };
}

function fieldsOf(status: DaemonStatus): Record<string, unknown> {
  const { instance: _, memory, uptime_seconds, started_at, ...fields } = status;
  const inbox_url = inboxUrl(status);
  return {
    running: true,
    ...fields,
    inbox_url,
    started_at,
    uptime_seconds,
    memory_bytes: memory.rss_bytes,
  };
}

function homeFields(home: Home, dataBytes: number): Record<string, unknown> {
  return { data_folder: home.dataFolder, data_bytes: dataBytes, log_file: home.logFile };
}

interface Paths {
  readonly dataFolder: string;
  readonly dataBytes: number;
  readonly logFile: string;
  readonly waiting: WaitingEvents | null;
  /** Its name and id. */
  readonly project: string;
}

/** A running daemon: what runs, since when, and where. */
function statusView(status: DaemonStatus, paths: Paths): View {
  return { lines: (look) => statusLines(status, paths, look) };
}

function statusLines(status: DaemonStatus, paths: Paths, look: Look): string[] {
  const { version, pid, state, started_at, base_url, mcp_url, hooks_url, socket } = status;
  const runs = state === 'ready' ? 'is running' : 'is starting';
  const since = timeText(started_at, look.now);
  // Daemons of earlier releases don't send this.
  const people = status.people ?? null;
  const pairs = [
    ['Address', base_url],
    ['Web inbox', `${inboxUrl(status)} (to sign in: svc open)`],
    ['MCP', mcp_url],
    ['Webhooks', `${hooks_url}/w/…`],
    ['Socket', socket],
    ['Project', paths.project],
    ['Data', `${sizeText(paths.dataBytes)} in ${paths.dataFolder}`],
    ['Memory', sizeText(status.memory.rss_bytes)],
    ['Log', paths.logFile],
    ...(people ? messagingPairs(people) : []),
    ...waitingPairs(paths.waiting, look.now),
    ...replicaPairs(status),
  ] as const;
  return [
    look.bold(safeLine(`svc ${version} ${runs} (pid ${pid}) since ${since}`)),
    '',
    ...pairLines(
      pairs.map(([name, text]) => [name, look.typed(text)]),
      look,
      '  ',
    ),
    ...adviceLines(
      [
        ...diskAdvice(status.disk ?? null),
        ...damageLines(status.damage ?? [], paths.dataFolder),
        ...(people ? messagingAdvice(people) : []),
        ...replicaAdvice(status),
      ],
      look,
    ),
  ];
}

function damageLines(damage: NonNullable<DaemonStatus['damage']>, dataFolder: string): string[] {
  if (damage.length === 0) return [];
  const count = pluralize(damage.length, 'damaged object');
  return [`The disk has ${count}: ${damageText(damage)}. ${damageAdvice(dataFolder)}`];
}

function diskAdvice(disk: DiskReport | null): string[] {
  if (disk?.trouble) {
    return [`No write works: ${disk.trouble.text} ${disk.trouble.cure}`];
  }
  if (disk === null || disk.level === 'ok') return [];
  const free = `The disk is nearly full (${sizeText(disk.free_bytes)} free)`;
  return [`${free}: webhooks, mail and files are refused until there is room. See svc doctor.`];
}
