import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  daemonCommand,
  daemonEnvironment,
  DEFAULT_PORT,
  launchDaemon,
  LaunchFailed,
  whenReady,
  type Launched,
} from '../../daemon/launch.ts';
import { readableLogLine } from '../../daemon/log-line.ts';
import type { DaemonStatus } from '../../daemon/record.ts';
import type { CommandContext } from '../command.ts';
import { EXIT } from '../exit.ts';
import { CliError, usageError } from '../errors.ts';
import type { Output } from '../view/output.ts';

const LOG_LINES_SHOWN = 8;

/** `svc up`: the daemon runs and answers when this returns. */
export async function run(context: CommandContext): Promise<number> {
  const port = portOf(context.options['port']);
  if (context.options['foreground'] === true) return runHere(context, port ?? DEFAULT_PORT);
  const launched = await launch(context, port);
  remark(launched, port, context.output);
  show(launched.status, context);
  return EXIT.done;
}

/** Starts the daemon for a command that needs it, unless one runs. */
export async function ensureDaemon(context: CommandContext): Promise<void> {
  remark(await launch(context, null), null, context.output);
}

async function launch(context: CommandContext, port: number | null): Promise<Launched> {
  const { home, env, output, signal } = context;
  try {
    return await output.spin('Starting the daemon', launchDaemon({ home, env, port, signal }));
  } catch (error) {
    throw error instanceof LaunchFailed ? explained(error, output) : error;
  }
}

function portOf(given: CommandContext['options'][string]): number | null {
  if (given === undefined) return null;
  const port = Number(given);
  if (typeof given === 'string' && /^\d{1,5}$/.test(given) && port < 65_536) return port;
  throw usageError(
    `--port is a number from 0 to 65535, not "${String(given)}".`,
    '0 takes a free port.',
  );
}

function remark(
  { status, how, previousVersion }: Launched,
  port: number | null,
  output: Output,
): void {
  if (how === 'restarted') {
    output.note(`Replaced the daemon of release ${previousVersion} by ${status.version}.`);
  }
  const runs = Number(new URL(status.base_url).port);
  if (how === 'running' && port !== null && port !== 0 && port !== runs) {
    output.note(`It runs on port ${runs} already. To move it: svc down && svc up --port ${port}`);
  }
}

function explained(failure: LaunchFailed, output: Output): CliError {
  for (const line of failure.log.slice(-LOG_LINES_SHOWN)) output.note(readableLogLine(line));
  return new CliError({
    code: 'START_FAILED',
    message: failure.message,
    hint: 'More: svc logs, svc doctor',
    exit: EXIT.unreachable,
  });
}

function show(status: DaemonStatus, { output, home }: CommandContext): void {
  const { base_url, mcp_url, hooks_url, socket, project, pid, mode } = status;
  if (output.json) {
    output.line(JSON.stringify({ base_url, mcp_url, hooks_url, socket, project, pid, mode }));
    return;
  }
  const lines = [
    `svc ${status.version} is running (pid ${pid}).`,
    '',
    `  REST      ${base_url}/v1`,
    `  MCP       ${mcp_url}`,
    `  Webhooks  ${hooks_url}/w/…`,
    `  Project   ${project ?? '-'}`,
    `  Key       ${home.credentialsFile}`,
    '',
    'Now try:',
    '  svc source add github --verification github --secret my-secret',
    '  svc trigger github',
    '  svc inbox wait',
  ];
  for (const line of lines) output.line(line);
}

/** For containers and service managers: the daemon is our child, logs to standard error, and ends with us. */
async function runHere(context: CommandContext, port: number): Promise<number> {
  const { home, env, signal } = context;
  const { program, args } = daemonCommand('--port', String(port), '--foreground');
  const child = spawn(program, args, {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: daemonEnvironment(env),
  });
  const exited = once(child, 'exit').then(([code]: unknown[]) =>
    typeof code === 'number' ? code : 1,
  );
  // Ctrl-C reaches the child by itself; a signal to this process alone does not.
  signal.addEventListener('abort', () => child.kill('SIGTERM'), { once: true });
  const ended = new AbortController();
  const ready = whenReady({ home, env, port, signal: ended.signal }, null).then(
    (status) => (status.pid === child.pid ? show(status, context) : undefined),
    () => undefined,
  );
  const code = await exited;
  ended.abort();
  await ready;
  return signal.aborted ? EXIT.done : code;
}
