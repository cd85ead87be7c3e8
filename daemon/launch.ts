import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { VERSION } from '../shared/lib/version.ts';
import { authoritiesFile } from './authorities.ts';
import { chosenProfile, type GatewayProfile } from './chosen-profile.ts';
import type { Home } from './home.ts';
import { openLog, rotateLog } from './log/log-file.ts';
import { unwritableText } from './unwritable.ts';
import { askOwner, askStatus, askStop, waitForEnd } from './probe.ts';
import { lockHolder } from '../shared/host/processes.ts';
import type { DaemonStatus } from './record.ts';
import { isObject, parseObject } from '../shared/lib/guards.ts';

/** The daemon's exit code when another daemon has the data. */
export const EXIT_HELD = 75;

/**
 * A bounded young generation keeps an idle daemon small; at 2 MB, a daemon under load spent a quarter of its time on
 * garbage collection. `--expose-gc` lets it collect once after the start.
 */
const NODE_FLAGS = ['--max-semi-space-size=8', '--expose-gc'];
const READY_WITHIN_MS = 15_000;
const END_WITHIN_MS = 8000;
const POLL_MS = 20;
/** The start of the line in which the daemon says why it doesn't start. */
const REFUSAL = 'svc: ';

export interface LaunchOptions {
  readonly home: Home;
  readonly env: NodeJS.ProcessEnv;
  /** Null keeps the port of the daemon it replaces, or else the port of the last start. */
  readonly port: number | null;
  /** The owner's new address; a daemon that already runs takes it too. */
  readonly owner?: string | undefined;
  /** The stored profile of the project to serve (default: the current profile). */
  readonly profile?: string | undefined;
  /** Keep a daemon that runs for another project. */
  readonly keepOther?: boolean;
  readonly signal?: AbortSignal;
}

/** The running daemon, and how it got there. */
export interface LaunchResult {
  readonly status: DaemonStatus;
  readonly how: 'running' | 'started' | 'restarted';
  /** The daemon it replaced; null if it replaced nothing. */
  readonly previous: Pick<DaemonStatus, 'version' | 'project'> | null;
}

/** The daemon didn't start. */
export class LaunchError extends Error {
  /** The lines it logged, without the reason. */
  readonly log: readonly string[];
  /** Everything that prevents the start, if the daemon listed more than the reason. */
  readonly problems: readonly string[];

  constructor(message: string, log: readonly string[] = [], problems: readonly string[] = []) {
    super(message);
    this.name = 'LaunchError';
    this.log = log;
    this.problems = problems;
  }
}

/** Returns a running daemon of this release and project; starts it, or replaces a daemon of another one. */
export async function launchDaemon(options: LaunchOptions): Promise<LaunchResult> {
  const { home } = options;
  const wanted = wantedProfile(options);
  const running = await askStatus(home.socketPath);
  if (running?.version === VERSION && (options.keepOther || isFor(running, wanted))) {
    const status = running.state === 'ready' ? running : await whenReady(options, null);
    return { status: await withOwner(options, status), how: 'running', previous: null };
  }
  if (running) await end(home, running);
  const port = options.port ?? (running ? Number(new URL(running.base_url).port) : null);
  const status = await withOwner(options, await start({ ...options, port }));
  return { status, how: running ? 'restarted' : 'started', previous: running };
}

function wantedProfile({ home, profile }: LaunchOptions): GatewayProfile | null {
  try {
    return chosenProfile(home.credentialsFile, profile);
  } catch (error) {
    throw new LaunchError(error instanceof Error ? error.message : String(error));
  }
}

function isFor(status: DaemonStatus, wanted: GatewayProfile | null): boolean {
  if (wanted === null) return status.mode === 'local';
  return status.gateway === wanted.gateway && status.project === wanted.project;
}

/** Tells the running daemon its owner: another process may have started that daemon without one. */
async function withOwner(
  { home, owner }: LaunchOptions,
  status: DaemonStatus,
): Promise<DaemonStatus> {
  if (owner === undefined) return status;
  if (status.mode === 'replica') {
    throw new LaunchError('The project is at a gateway: change its owner there.');
  }
  if (await askOwner(home.socketPath, owner)) return (await askStatus(home.socketPath)) ?? status;
  throw new LaunchError(`The daemon (pid ${status.pid}) refused to change the owner.`);
}

/** The program and arguments that run the daemon. */
export function daemonCommand(...options: string[]): { program: string; args: string[] } {
  const { script, fromSource } = processScript('daemon');
  const flags = fromSource ? [...process.execArgv, ...NODE_FLAGS] : NODE_FLAGS;
  return { program: process.execPath, args: [...flags, script, ...options] };
}

/** The script of one of our processes: next to the bundle, or the source in development. */
export function processScript(name: 'daemon' | 'gateway' | 'gateway/admin'): {
  readonly script: string;
  readonly fromSource: boolean;
} {
  const cli = realpathSync(process.argv[1] ?? '.');
  const fromSource = cli.endsWith('.ts');
  const script = fromSource
    ? join(dirname(cli), '..', name, 'main.ts')
    : join(dirname(cli), `${name.replace('/', '-')}.js`);
  return { script, fromSource };
}

/** Port, owner and profile as arguments of the daemon. */
export function daemonOptions({
  port,
  owner,
  profile,
}: Pick<LaunchOptions, 'port' | 'owner' | 'profile'>): string[] {
  return [
    ...(port === null ? [] : ['--port', String(port)]),
    ...(owner === undefined ? [] : ['--owner', owner]),
    ...(profile === undefined ? [] : ['--profile', profile]),
  ];
}

/** The environment of a daemon that outlives its shell: an absolute SVC_HOME, and no caller's key. */
export function daemonEnvironment(
  env: NodeJS.ProcessEnv,
  caFile: string | null = null,
): NodeJS.ProcessEnv {
  const { SVC_API_KEY: _, ...rest } = env;
  return {
    ...rest,
    ...(rest['SVC_HOME'] && { SVC_HOME: resolve(rest['SVC_HOME']) }),
    ...(caFile !== null && { NODE_EXTRA_CA_CERTS: caFile }),
  };
}

async function end(home: Home, running: DaemonStatus): Promise<void> {
  await askStop(home.socketPath);
  if (await waitForEnd(running.pid, END_WITHIN_MS)) return;
  throw new LaunchError(`The daemon ${running.version} (pid ${running.pid}) didn't stop.`);
}

async function start(options: LaunchOptions): Promise<DaemonStatus> {
  const { home } = options;
  // The log may be what can't be written.
  const unwritable = unwritableText(home);
  if (unwritable !== null) throw new LaunchError(unwritable);
  rotateLog(home.logFile);
  const logStart = statSync(home.logFile, { throwIfNoEntry: false })?.size ?? 0;
  for (;;) {
    const child = spawnDaemon(options);
    try {
      return await whenReady(options, child);
    } catch (error) {
      // A daemon that was just shutting down had the lock, and has released it since.
      if (child.exitCode === EXIT_HELD && lockHolder(home.lockFile) === null) continue;
      if (!(error instanceof LaunchError)) throw error;
      throw explained(error, linesFrom(home.logFile, logStart));
    }
  }
}

function spawnDaemon(options: LaunchOptions): Child {
  const { home } = options;
  const { program, args } = daemonCommand(...daemonOptions(options));
  const log = openLog(home.logFile);
  // In `/`, the daemon doesn't stop anybody from unmounting or removing the current folder.
  const child = spawn(program, args, {
    detached: true,
    stdio: ['ignore', log, log],
    env: daemonEnvironment(options.env, authoritiesFile(options)),
    cwd: '/',
  });
  closeSync(log);
  child.unref();
  const result: Child = { exitCode: undefined };
  const settle = (code: number | null): void => {
    result.exitCode = code;
  };
  once(child, 'exit').then(
    ([code]: (number | null)[]) => settle(code ?? null),
    () => settle(null),
  );
  return result;
}

/** `exitCode` is undefined while the process runs, and null if a signal ended it or it couldn't start. */
interface Child {
  exitCode: number | null | undefined;
}

/** Another daemon may win the race to start: this accepts either one. */
export async function whenReady(
  options: LaunchOptions,
  child: Child | null,
): Promise<DaemonStatus> {
  const deadline = performance.now() + READY_WITHIN_MS;
  while (performance.now() < deadline) {
    options.signal?.throwIfAborted();
    const status = await askStatus(options.home.socketPath);
    if (status?.state === 'ready') return status;
    if (child?.exitCode !== undefined && !status && !anotherStarts(options.home, child)) {
      throw new LaunchError(`The daemon exited right away${codeOf(child.exitCode)}.`);
    }
    await sleep(POLL_MS);
  }
  throw new LaunchError(`The daemon didn't answer within ${READY_WITHIN_MS / 1000} s.`);
}

function anotherStarts(home: Home, child: Child): boolean {
  return child.exitCode === EXIT_HELD && lockHolder(home.lockFile) !== null;
}

function codeOf(exitCode: number | null | undefined): string {
  return typeof exitCode === 'number' ? ` with exit code ${exitCode}` : '';
}

function linesFrom(path: string, offset: number): string[] {
  const bytes = readFileSync(path).subarray(offset);
  return bytes.toString('utf8').split('\n').filter(Boolean);
}

/** Takes the reason from the log: a plain `svc: …` with indented lines, or else the last failure. */
function explained(failure: LaunchError, log: readonly string[]): LaunchError {
  const at = log.findLastIndex((text) => text.startsWith(REFUSAL));
  if (at === -1) return new LaunchError(failureIn(log) ?? failure.message, log);
  const after = log.slice(at + 1);
  const more = after.findIndex((text) => !text.startsWith('  '));
  const problems = more === -1 ? after : after.slice(0, more);
  const rest = [...log.slice(0, at), ...after.slice(problems.length)];
  const message = (log[at] ?? '').slice(REFUSAL.length);
  return new LaunchError(
    message,
    rest,
    problems.map((line) => line.trim()),
  );
}

function failureIn(log: readonly string[]): string | null {
  const line = log.findLast((text) => text.includes('"level":60'));
  if (line === undefined) return null;
  const { err, msg } = parseObject(line) ?? {};
  const reason = isObject(err) ? err['message'] : msg;
  return typeof reason === 'string' ? reason : null;
}
