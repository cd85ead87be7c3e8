import { parseArgs } from 'node:util';
import { checkData } from './check.ts';
import { Daemon } from './daemon.ts';
import { resolveHome, type Home } from './home.ts';
import { createLog } from './log/log.ts';
import { EXIT_HELD } from './launch.ts';
import { isMailAddress } from '../shared/rules/mail/mail-address.ts';
import { alwaysCheckCertificates } from '../shared/host/certificate-check.ts';
import { startFailureText, StartRefusal } from '../shared/host/start-refusal.ts';
import { startTrouble } from '../shared/host/start-trouble.ts';

/** The process exits by then, even if something hangs. */
const END_WITHIN_MS = 4800;

/** Runs the daemon until a signal, a request on its socket or a failure ends it. */
async function main(): Promise<void> {
  // Only this user may read the daemon's files, including those that libraries create.
  process.umask(0o077);
  alwaysCheckCertificates((text) => process.stderr.write(`${text}\n`));
  const { port, owner, profile, foreground, check } = parseOptions();
  const home = resolveHome(process.env);
  if (check) return printCheck(home);
  const level = process.env['SVC_LOG_LEVEL'];
  const rate = Number(process.env['SVC_RATE_LIMIT'] ?? 0);
  let daemon: Daemon | null = null;
  const end = (exitCode: number): void => {
    if (daemon) void endDaemon(daemon, exitCode);
    else process.exit(exitCode);
  };
  process.on('SIGTERM', () => end(0));
  process.on('SIGINT', () => end(0));
  // The foreground command has ended, for any reason.
  process.on('disconnect', () => end(0));
  daemon = await Daemon.start({
    home,
    env: process.env,
    port,
    profile,
    owner,
    ratePerMinute: Number.isInteger(rate) && rate > 0 ? rate : 0,
    createLog: () => createLog({ file: home.logFile, level, mirror: foreground }),
    onEnd: end,
  }).catch(async (error: unknown) => {
    throw await startTrouble(error, home.dataFolder);
  });
  const { log } = daemon;
  const die = (error: unknown): void => {
    log.fatal({ err: error }, 'failed');
    process.exit(1);
  };
  process.on('uncaughtException', die);
  process.on('unhandledRejection', die);
}

async function endDaemon(daemon: Daemon, exitCode: number): Promise<void> {
  setTimeout(() => process.exit(1), END_WITHIN_MS);
  try {
    await daemon.stop();
  } catch (error) {
    daemon.log.fatal({ err: error }, "didn't shut down cleanly");
    process.exit(1);
  }
  process.exit(exitCode);
}

/** `--check`: prints one line of JSON with the damaged databases, or null if a daemon is running. */
async function printCheck(home: Home): Promise<void> {
  process.stdout.write(`${JSON.stringify(await checkData(home))}\n`);
}

interface Options {
  readonly port: number | null;
  readonly owner: string | undefined;
  readonly profile: string | undefined;
  readonly foreground: boolean;
  readonly check: boolean;
}

function parseOptions(): Options {
  const { values } = parseArgs({
    options: {
      port: { type: 'string' },
      owner: { type: 'string' },
      profile: { type: 'string' },
      foreground: { type: 'boolean', default: false },
      check: { type: 'boolean', default: false },
    },
  });
  const port = values.port === undefined ? null : Number(values.port);
  if (port !== null && !(Number.isInteger(port) && port >= 0 && port < 65_536)) {
    throw new StartRefusal(`Not a port: ${values.port}`, 'port');
  }
  const { owner, profile, foreground, check } = values;
  if (owner !== undefined && !isMailAddress(owner)) {
    throw new StartRefusal(`Not an email address: ${owner}`, 'settings');
  }
  return { port, owner, profile, foreground, check };
}

main().catch((error: unknown) => {
  process.stderr.write(`svc: ${startFailureText(error)}\n`);
  const isHeld = error instanceof StartRefusal && error.kind === 'held';
  process.exit(isHeld ? EXIT_HELD : 1);
});
