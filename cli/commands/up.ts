import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { authoritiesFile } from '../../daemon/authorities.ts';
import {
  daemonCommand,
  daemonEnvironment,
  daemonOptions,
  launchDaemon,
  LaunchError,
  whenReady,
  type LaunchResult,
  type LaunchOptions,
} from '../../daemon/launch.ts';
import { readableLogLine } from '../../daemon/log/log-line.ts';
import { askStatus } from '../../daemon/probe.ts';
import type { DaemonStatus } from '../../daemon/record.ts';
import { isMailAddress } from '../../shared/rules/mail/mail-address.ts';
import type { CommandContext, Declaration } from '../command.ts';
import { EXIT } from '../exit.ts';
import { CliError, usageError } from '../errors.ts';
import { textOption } from '../input/option-values.ts';
import { nextSteps } from '../view/next-steps.ts';
import { projectText } from '../view/project-text.ts';
import { servingProfile } from '../signin/profiles.ts';
import type { Output } from '../view/output.ts';
import { pairLines, type Pair } from '../view/pairs.ts';
import { messagingPairs } from '../view/messaging-status.ts';
import { inboxUrl } from '../view/inbox-url.ts';
import { copyText, replicaNote, replicaPairs } from '../view/status-replica.ts';

export const declaration: Declaration = {
  summary: "Start the daemon on this machine, or show where it's running.",
  description:
    'Returns once the daemon answers. The first start creates a project and a key; with a gateway profile, the daemon keeps a replica of that project. Replaces a running daemon of another release or project. Set SVC_SMTP_URL and SVC_MAIL_FROM to send mail; without them, mail is saved in the local outbox (svc outbox). Set SVC_TELEGRAM_TOKEN to ask people by your Telegram bot. The daemon reads these settings only when it starts.',
  args: [],
  options: [
    {
      flag: 'port',
      value: 'N',
      summary: 'Port on 127.0.0.1, remembered; 0 picks a free one (default 4780)',
    },
    {
      flag: 'owner',
      value: 'EMAIL',
      summary: 'Email address of the person who decides; remembered',
    },
    { flag: 'foreground', summary: 'Run in the foreground and log to standard error' },
  ],
  examples: ['up', 'up --owner ana@example.com', 'up --port 0 --json', 'up --foreground'],
  seeAlso: ['status', 'doctor', 'down', 'help environment'],
};

const LOG_LINES_SHOWN = 8;

/** `svc up`: returns once the daemon runs and answers. */
export async function run(context: CommandContext): Promise<number> {
  const port = portOf(context.options['port']);
  const owner = ownerOf(textOption(context, 'owner'));
  const profile = textOption(context, 'profile');
  tellIgnored(context);
  if (context.options['foreground'] === true) {
    return runHere(context, { port, owner, profile });
  }
  const launched = await launch(context, { port, owner, profile });
  await remark(launched, port, context);
  await show(await withCopy(launched.status, context), launched.how, context);
  return EXIT.done;
}

/** Tells the user that `up` ignores these variables, which override the profile in other commands. */
function tellIgnored({ env, output }: CommandContext): void {
  const set = ['SVC_API_KEY', 'SVC_GATEWAY'].filter((name) => env[name]);
  if (set.length === 0) return;
  output.note(
    `The daemon uses the stored profile. These variables affect only commands: ${set.join(', ')}.`,
  );
}

/** Starts the daemon for a command that needs it, unless it's running. */
export async function ensureDaemon(context: CommandContext): Promise<void> {
  const profile = servingProfile(context.home.credentialsFile, textOption(context, 'profile'));
  await remark(await launch(context, { port: null, profile, keepOther: true }), null, context);
}

async function launch(
  context: CommandContext,
  wanted: Pick<LaunchOptions, 'port' | 'owner' | 'profile' | 'keepOther'>,
): Promise<LaunchResult> {
  const { home, env, output, signal } = context;
  const options = { home, env, signal, ...wanted };
  try {
    return await output.spin('Starting the daemon', launchDaemon(options));
  } catch (error) {
    throw error instanceof LaunchError ? explained(error, output) : error;
  }
}

/** How long `svc up` watches the first replication; it continues afterwards. */
const WATCH_MS = 4_000;
const WATCH_PAUSE_MS = 50;

/** Gives a new replica a moment to catch up, then prints a note about it and returns the latest status. */
async function withCopy(first: DaemonStatus, context: CommandContext): Promise<DaemonStatus> {
  const { home, output, signal } = context;
  if (!first.replica) return first;
  let status = first;
  const watch = async (): Promise<void> => {
    const endsAt = performance.now() + WATCH_MS;
    while (isComing(status) && performance.now() < endsAt && !signal.aborted) {
      await sleep(WATCH_PAUSE_MS);
      status = (await askStatus(home.socketPath)) ?? status;
    }
  };
  await output.spin(() => copyText(status.replica), watch());
  const note = replicaNote(status);
  if (note !== null) output.note(note);
  return status;
}

function isComing({ replica }: DaemonStatus): boolean {
  return ['connecting', 'copying', 'catching-up'].includes(replica?.state ?? '');
}

function portOf(given: CommandContext['options'][string]): number | null {
  if (given === undefined) return null;
  const port = Number(given);
  if (typeof given === 'string' && /^\d{1,5}$/.test(given) && port < 65_536) return port;
  throw usageError(
    `--port must be a number from 0 to 65535, not "${String(given)}".`,
    '0 picks a free port.',
  );
}

function ownerOf(given: string | undefined): string | undefined {
  if (given === undefined || isMailAddress(given)) return given;
  throw usageError(
    `--owner isn't an email address: "${given}".`,
    'For example: svc up --owner ana@example.com',
  );
}

async function remark(
  { status, how, previous }: LaunchResult,
  port: number | null,
  context: CommandContext,
): Promise<void> {
  const { env, output } = context;
  if (previous && previous.version !== status.version) {
    output.note(`Replaced daemon ${previous.version} with ${status.version}.`);
  } else if (previous) {
    const former = await projectText(context, previous.project);
    output.note(`Restarted the daemon; it ran for the project ${former}.`);
  }
  const runs = Number(new URL(status.base_url).port);
  if (how === 'running' && port !== null && port !== 0 && port !== runs) {
    output.note(
      `It's already running on port ${runs}. To change the port: svc down && svc up --port ${port}`,
    );
  }
  if (how === 'running' && isUnread(status, env)) {
    output.note(
      "It's running with the settings it started with. To apply new ones: svc down && svc up",
    );
  }
}

/** Whether mail or Telegram settings are set that the running daemon was started without. */
function isUnread({ people }: DaemonStatus, env: NodeJS.ProcessEnv): boolean {
  const isNewMail = Boolean(env['SVC_SMTP_URL']) && people?.mail === 'outbox';
  return isNewMail || (Boolean(env['SVC_TELEGRAM_TOKEN']) && people?.telegram === false);
}

function explained(failure: LaunchError, output: Output): CliError {
  for (const line of failure.log.slice(-LOG_LINES_SHOWN)) output.note(readableLogLine(line));
  return new CliError({
    code: 'START_FAILED',
    message: failure.message,
    // The settings are in the environment, so the log and doctor know nothing more about them.
    ...(failure.problems.length > 0
      ? { details: { fields: failure.problems.map((message) => ({ path: '', message })) } }
      : { hint: 'More: svc logs, svc doctor' }),
    exit: EXIT.unreachable,
  });
}

async function show(
  status: DaemonStatus,
  how: LaunchResult['how'],
  context: CommandContext,
): Promise<void> {
  const { output, home } = context;
  const { base_url, mcp_url, hooks_url, socket, project, pid, mode } = status;
  const inbox_url = inboxUrl(status);
  if (output.json) {
    const all = { base_url, mcp_url, hooks_url, inbox_url, socket, project, pid, mode };
    output.line(JSON.stringify(all));
    return;
  }
  const steps = ['Now try:', ...(await nextSteps(context)).map((step) => `  ${step}`)];
  const pairs: Pair[] = [
    ['Web inbox', `${inbox_url} (to sign in: svc open)`],
    ['REST', `${base_url}/v1`],
    ['MCP', mcp_url],
    ['Webhooks', `${hooks_url}/w/…`],
    ['Project', await projectText(context, project)],
    ['Key', home.credentialsFile],
    ...(status.people ? messagingPairs(status.people) : []),
    ...replicaPairs(status),
  ];
  if (how === 'running') {
    output.advise(
      `svc ${status.version} is already running (pid ${pid}) at ${base_url}. More: svc status`,
    );
    output.advise(`The web inbox is at ${inbox_url}. To open it: svc open`);
  } else {
    output.advise(`svc ${status.version} is running (pid ${pid}).`);
    output.lines((look) => [
      '',
      ...pairLines(
        pairs.map(([name, text]) => [name, look.typed(text)]),
        look,
        '  ',
      ),
      '',
    ]);
  }
  for (const step of steps) output.advise(step);
}

/**
 * For containers and service managers: the daemon is a child process, logs to standard error, and ends with this one.
 */
async function runHere(
  context: CommandContext,
  wanted: Pick<LaunchOptions, 'port' | 'owner' | 'profile'>,
): Promise<number> {
  const { home, env, signal } = context;
  const { program, args } = daemonCommand(...daemonOptions(wanted), '--foreground');
  const child = spawn(program, args, {
    // The channel closes when this process ends, even by SIGKILL, and then the daemon ends too.
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: daemonEnvironment(env, authoritiesFile({ home, env, profile: wanted.profile })),
  });
  const exited = once(child, 'exit').then(([code]: unknown[]) =>
    typeof code === 'number' ? code : 1,
  );
  // Ctrl-C reaches the child too; a signal sent only to this process doesn't.
  signal.addEventListener('abort', () => child.kill('SIGTERM'), { once: true });
  const ended = new AbortController();
  const ready = whenReady({ home, env, port: null, signal: ended.signal }, null).then(
    (status) => (status.pid === child.pid ? show(status, 'started', context) : undefined),
    () => undefined,
  );
  const code = await exited;
  ended.abort();
  await ready;
  return signal.aborted ? EXIT.done : code;
}
