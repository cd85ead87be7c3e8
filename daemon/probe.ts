import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Home } from './home.ts';
import { isAlive, lockHolder } from '../shared/host/processes.ts';
import { parseStatus, readRecord, type DaemonStatus } from './record.ts';

/** The daemon's own routes. Only its socket serves them. */
export const STATUS_PATH = '/_daemon/status';
export const STOP_PATH = '/_daemon/stop';
/** Takes `?address=`. */
export const OWNER_PATH = '/_daemon/owner';
/** Accepts the present ledger as the base for later comparisons. */
export const ACCEPT_LEDGER_PATH = '/_daemon/accept-ledger';

const ASK_MS = 2000;

/** The status of the daemon on this socket, or null if nobody answers. */
export async function askStatus(
  socketPath: string,
  timeoutMs = ASK_MS,
): Promise<DaemonStatus | null> {
  const answer = await ask(socketPath, 'GET', STATUS_PATH, timeoutMs);
  return answer === null ? null : parseStatus(answer);
}

/** Asks the daemon to stop. False if nobody answers. */
export async function askStop(socketPath: string): Promise<boolean> {
  return (await ask(socketPath, 'POST', STOP_PATH, ASK_MS)) !== null;
}

/** Sets the owner's address in a running daemon. False if nobody answers or the daemon refuses. */
export async function askOwner(socketPath: string, address: string): Promise<boolean> {
  const path = `${OWNER_PATH}?address=${encodeURIComponent(address)}`;
  return (await ask(socketPath, 'POST', path, ASK_MS)) !== null;
}

/** Makes a running daemon accept the present ledger. False if nobody answers or the daemon has no replica. */
export async function askAcceptLedger(socketPath: string): Promise<boolean> {
  return (await ask(socketPath, 'POST', ACCEPT_LEDGER_PATH, ASK_MS)) !== null;
}

/**
 * The pid of this home's daemon, proven by its answer or by its lock; null if no daemon runs or there's no proof. A pid
 * in `daemon.json` alone proves nothing.
 */
export async function provenPid(home: Home): Promise<number | null> {
  const status = await askStatus(home.socketPath);
  return status?.pid ?? lockHolder(home.lockFile);
}

/** Waits for a process to end; false if it still runs after `withinMs`. */
export async function waitForEnd(pid: number, withinMs: number): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  while (isAlive(pid)) {
    if (performance.now() > deadline) return false;
    await sleep(25);
  }
  return true;
}

/** Names the process that has this home's lock, for the error of the second daemon. */
export async function describeHolder(home: Home): Promise<string> {
  const status = await askStatus(home.socketPath);
  if (status) return `pid ${status.pid} at ${status.base_url}`;
  const pid = lockHolder(home.lockFile);
  const record = readRecord(home.daemonFile);
  if (pid === null) return "a process that doesn't answer";
  if (record?.pid === pid) return `pid ${pid} at ${record.base_url}, which doesn't answer yet`;
  return `pid ${pid}, which doesn't answer yet`;
}

function ask(
  socketPath: string,
  method: string,
  path: string,
  timeoutMs: number,
): Promise<string | null> {
  return new Promise((resolve) => {
    const call = request(
      { socketPath, method, path, timeout: timeoutMs, agent: false },
      (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('error', () => resolve(null));
        answer.on('end', () => {
          const good = answer.statusCode !== undefined && answer.statusCode < 300;
          resolve(good ? Buffer.concat(chunks).toString('utf8') : null);
        });
      },
    );
    // To the caller, every error means the same: nobody answers.
    call.on('error', () => resolve(null));
    call.on('timeout', () => call.destroy());
    call.end();
  });
}
