import { askStop, provenPid, waitForEnd } from '../../daemon/probe.ts';
import { isAlive, lockHolder } from '../../shared/host/processes.ts';
import { readRecord } from '../../daemon/record.ts';
import type { Home } from '../../daemon/home.ts';
import type { CommandContext, Declaration } from '../command.ts';
import { EXIT } from '../exit.ts';
import { CliError } from '../errors.ts';

export const declaration: Declaration = {
  summary: 'Stop the daemon and wait until it exits.',
  description:
    'The daemon answers waiting calls, finishes running ones and closes its databases first.',
  args: [],
  options: [],
  examples: ['down'],
  seeAlso: ['up', 'status'],
};

/** The daemon gives itself five seconds. */
const END_WITHIN_MS = 7000;

/** `svc down`: stops the daemon and waits for it to exit. Succeeds if it isn't running. */
export async function run({ home, output }: CommandContext): Promise<number> {
  const pid = await provenPid(home);
  if (pid === null) {
    const left = readRecord(home.daemonFile)?.pid;
    if (left !== undefined && isAlive(left)) {
      output.note(
        `daemon.json names pid ${left}, but that process may not be the daemon, so svc left it running.`,
      );
    }
    if (output.json) output.answer({ stopped: false, pid: null });
    else output.line('Not running.');
    return EXIT.done;
  }
  await output.spin('Stopping the daemon', end(home, pid));
  if (output.json) output.answer({ stopped: true, pid });
  else output.line(`Stopped (pid ${pid}).`);
  return EXIT.done;
}

async function end(home: Home, pid: number): Promise<void> {
  const asked = await askStop(home.socketPath);
  if (asked && (await waitForEnd(pid, END_WITHIN_MS))) return;
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    // The pid may belong to another process by now; only the lock proves it's the daemon.
    if (lockHolder(home.lockFile) !== pid) break;
    process.kill(pid, signal);
    if (await waitForEnd(pid, END_WITHIN_MS)) return;
  }
  if (!isAlive(pid)) return;
  throw new CliError({
    code: 'DAEMON_STUCK',
    message: `The daemon (pid ${pid}) didn't stop.`,
    hint: `Check what it's doing, then stop it by hand: kill -9 ${pid}`,
    exit: EXIT.refused,
  });
}
