import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { get } from 'node:http';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { readCredentials } from '../../daemon/credentials.ts';
import type { Home } from '../../daemon/home.ts';
import { daemonCommand, daemonEnvironment } from '../../daemon/launch.ts';
import { DEFAULT_PORT, rememberedPort } from '../../daemon/port.ts';
import { lockHolder, portOwner } from '../../shared/host/processes.ts';
import { readRecord, type DaemonStatus } from '../../daemon/record.ts';
import { writeTrouble } from '../../shared/host/writable.ts';
import { pluralize } from '../../shared/lib/pluralize.ts';
import { VERSION } from '../../shared/lib/version.ts';
import { damageAdvice, damageText } from '../view/damage.ts';
import { safeLine } from '../view/terminal-text.ts';

/** One line of `svc doctor`: the check, its result and how to fix it. */
export interface Finding {
  readonly check: string;
  readonly status: 'ok' | 'warning' | 'error';
  readonly detail: string;
  readonly fix: string | null;
}

const DISK_WARNS_BYTES = 1024 ** 3;
const DISK_FAILS_BYTES = 100 * 1024 ** 2;
const CHECK_WITHIN_MS = 120_000;

export function ok(check: string, detail: string): Finding {
  return { check, status: 'ok', detail, fix: null };
}

export function warning(check: string, detail: string, fix: string): Finding {
  return { check, status: 'warning', detail, fix };
}

export function failed(check: string, detail: string, fix: string): Finding {
  return { check, status: 'error', detail, fix };
}

export function checkNode(version = process.versions.node): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const good = major > 20 || (major === 20 && minor >= 19);
  return good ? ok('node', version) : failed('node', version, 'Install Node 20.19 or newer.');
}

/** Checks that only this user can read keys and data. */
export function checkPermissions(home: Home): Finding {
  const { credentialsFile, dataFolder, daemonFile, socketPath } = home;
  const open: string[] = [];
  const folders = [dirname(credentialsFile), dirname(daemonFile), dataFolder];
  for (const path of new Set([...folders, credentialsFile, socketPath])) {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat && (stat.mode & 0o077) !== 0) open.push(path);
  }
  if (open.length === 0) return ok('permissions', 'only this user can read keys and data');
  const fix = `chmod go= ${open.join(' ')}`;
  // Others may list a folder as long as they can't read what's in it.
  const secret = open.some((path) => path === credentialsFile || path === dataFolder);
  const text = `open to others: ${open.join(', ')}`;
  return secret ? failed('permissions', text, fix) : warning('permissions', text, fix);
}

export function checkCredentials(home: Home): Finding {
  try {
    const stored = readCredentials(home.credentialsFile);
    if (!stored) return warning('key', 'none stored yet', 'svc up creates one.');
    const known = Object.keys(stored.profiles).join(', ');
    if (known === '')
      return warning('key', 'no profile left', 'svc login, or svc up for one here.');
    return ok('key', `stored for: ${known}`);
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    return failed('key', text, `mv ${home.credentialsFile} ${home.credentialsFile}.old && svc up`);
  }
}

export function checkDaemon(home: Home, status: DaemonStatus | null): Finding {
  const silentPid = status ? null : lockHolder(home.lockFile);
  if (silentPid !== null) {
    return failed(
      'daemon',
      `pid ${silentPid} holds the data but doesn't answer`,
      'svc down && svc up',
    );
  }
  if (!status) {
    const left = [home.daemonFile, home.socketPath].filter((path) =>
      statSync(path, { throwIfNoEntry: false }),
    );
    const pid = readRecord(home.daemonFile)?.pid;
    if (left.length === 0) return warning('daemon', 'not running', 'svc up');
    const text = `not running, but left files behind (pid ${pid ?? 'unknown'}): ${left.join(', ')}`;
    return warning('daemon', text, 'svc up removes them.');
  }
  if (status.version === VERSION) {
    return ok('daemon', `${status.version}, pid ${status.pid}, answers on its socket`);
  }
  const text = `runs version ${status.version}, but this is ${VERSION}`;
  return warning('daemon', text, 'svc up replaces it.');
}

export async function checkPort(home: Home, status: DaemonStatus | null): Promise<Finding> {
  if (!status) return checkNextPort(home);
  if (await answers(`${status.base_url}/v1/whoami`)) {
    return ok('port', `${status.base_url} answers`);
  }
  return failed('port', `${status.base_url} doesn't answer`, 'svc down && svc up; see svc logs');
}

/** The port that the next start will use. */
function checkNextPort({ settingsFile }: Home): Finding {
  try {
    const port = rememberedPort(settingsFile) ?? DEFAULT_PORT;
    const owner = portOwner(port);
    if (owner === null) return ok('port', `${port} is free`);
    return warning('port', `${port} is used by ${owner}`, 'Free it, or: svc up --port 0');
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    return failed('port', text, `svc up --port ${DEFAULT_PORT}`);
  }
}

function answers(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const call = get(url, { timeout: 2000, agent: false }, (answer) => {
      answer.resume();
      resolve(true);
    });
    call.on('timeout', () => call.destroy());
    call.on('error', () => resolve(false));
  });
}

/** Whether this machine's Telegram bot works. No finding without a bot. */
export function checkTelegram(status: Pick<DaemonStatus, 'people'> | null): Finding[] {
  if (!status?.people?.telegram) return [];
  const { telegram_trouble: trouble } = status.people;
  if (!trouble) return [ok('telegram', 'the bot is connected')];
  const fix = 'Check SVC_TELEGRAM_TOKEN and the network, then: svc down && svc up; see svc logs';
  return [failed('telegram', safeLine(trouble), fix)];
}

export async function checkDisk(home: Home, status: DaemonStatus | null): Promise<Finding> {
  const disk = await statfs(home.dataFolder).catch(() => null);
  if (!disk) return ok('disk', 'no data yet');
  const trouble = status?.disk?.trouble ?? (await writeTrouble(home.dataFolder));
  if (trouble) return failed('disk', trouble.text, trouble.cure);
  return checkRoom(home, status, disk.bavail * disk.bsize);
}

function checkRoom(home: Home, status: DaemonStatus | null, free: number): Finding {
  const text = `${(free / 1024 ** 3).toFixed(1)} GB free at ${home.dataFolder}`;
  const level = status?.disk?.level ?? 'ok';
  if (level !== 'ok') {
    const refused = level === 'low' ? 'webhooks, mail and files are' : 'everything large is';
    const fix = 'Free some space; senders try again. SVC_DISK_RESERVE_MB sets how much stays free.';
    return failed('disk', `${text}: ${refused} refused`, fix);
  }
  const fix = "Free some space, or svc can't store anything new.";
  if (free < DISK_FAILS_BYTES) return failed('disk', text, fix);
  return free < DISK_WARNS_BYTES ? warning('disk', text, fix) : ok('disk', text);
}

/** What the running daemon knows to be damaged. */
export function checkDamage(home: Home, status: Pick<DaemonStatus, 'damage'> | null): Finding[] {
  const damage = status?.damage ?? [];
  if (damage.length === 0) return [];
  const text = `${pluralize(damage.length, 'object')} damaged: ${damageText(damage)}`;
  return [failed('data', text, damageAdvice(home.dataFolder))];
}

/** Checks the databases while no daemon uses them, in a separate process that loads the database library. */
export async function checkIntegrity(home: Home, env: NodeJS.ProcessEnv): Promise<Finding> {
  if (!statSync(home.dataFolder, { throwIfNoEntry: false })) return ok('data', 'none yet');
  const { program, args } = daemonCommand('--check');
  try {
    const { stdout } = await promisify(execFile)(program, args, {
      env: daemonEnvironment(env),
      timeout: CHECK_WITHIN_MS,
    });
    const damaged: unknown = JSON.parse(stdout);
    if (!Array.isArray(damaged)) return ok('data', 'not checked: in use');
    if (damaged.length === 0) return ok('data', 'databases are intact');
    return failed('data', damaged.join('; '), 'Restore the data folder from a backup.');
  } catch (error) {
    const text =
      error instanceof Error ? (error.message.trimEnd().split('\n').at(-1) ?? '') : String(error);
    return warning(
      'data',
      `could not be checked: ${text}`,
      'Check that this user can read the data folder.',
    );
  }
}
