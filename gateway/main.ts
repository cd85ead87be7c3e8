import { parseArgs } from 'node:util';
import type { Logger } from 'pino';
import { alwaysCheckCertificates } from '../shared/host/certificate-check.ts';
import { startFailureText } from '../shared/host/start-refusal.ts';
import { startTrouble } from '../shared/host/start-trouble.ts';
import { readServerConfig } from './server/config.ts';
import { tryDataFolder } from './lib/data-folder.ts';
import { createServerLog } from './server/log.ts';
import { GatewayServer } from './server/server.ts';

/** The process exits after this long, even if something hangs. */
const END_WITHIN_MS = 4800;
/** A terminal sends Ctrl-C to us and to our parent, such as npx, which forwards it: both count as one signal. */
const SAME_SIGNAL_MS = 500;

/** Runs the gateway until a signal or a failure ends it. */
async function main(): Promise<void> {
  // Only this user may read new files, including those that libraries create.
  process.umask(0o077);
  const ignored: string[] = [];
  alwaysCheckCertificates((text) => ignored.push(text));
  const { values } = parseArgs({
    options: { config: { type: 'string' }, json: { type: 'boolean', default: false } },
  });
  const config = readServerConfig(process.env, values.config ?? null, tryDataFolder);
  const output = createServerLog({ level: config.logLevel, secrets: config.secrets });
  const { log } = output;
  let server: GatewayServer | null = null;
  const end = (exitCode: number): void => {
    if (server) void endServer(server, log, exitCode);
    else process.exit(exitCode);
  };
  endOnSignals(() => end(0));
  const die = (error: unknown): void => {
    log.fatal({ err: error }, 'failed');
    process.exit(1);
  };
  process.on('uncaughtException', die);
  process.on('unhandledRejection', die);
  server = await GatewayServer.start({ config, log, onFatal: () => end(1) }).catch(
    async (error: unknown) => {
      throw await startTrouble(error, config.dataFolder);
    },
  );
  sayWhere(server, values.json);
  output.begin();
  const { pid: _, ...where } = server.status;
  log.info(where, 'listening');
  const remarks = [...ignored, ...config.warnings, ...(await server.remarks())];
  for (const remark of remarks) log.warn(remark);
}

/** A second signal ends the process at once. */
function endOnSignals(end: () => void): void {
  let askedAt: number | null = null;
  const onSignal = (): void => {
    const now = performance.now();
    if (askedAt === null) end();
    else if (now - askedAt > SAME_SIGNAL_MS) process.exit(1);
    askedAt ??= now;
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
}

async function endServer(server: GatewayServer, log: Logger, exitCode: number): Promise<void> {
  setTimeout(() => process.exit(1), END_WITHIN_MS);
  try {
    await server.stop();
  } catch (error) {
    log.fatal({ err: error }, 'did not end cleanly');
    process.exit(1);
  }
  process.exit(exitCode);
}

/**
 * Prints the address: for people on standard error, apart from the log; for programs as the first JSON line of the
 * log's stream.
 */
function sayWhere({ status }: GatewayServer, json: boolean): void {
  const stream = json ? process.stdout : process.stderr;
  // A closed stream must not stop the gateway.
  stream.on('error', () => undefined);
  if (json) {
    stream.write(`${JSON.stringify(status)}\n`);
    return;
  }
  const { base_url, listen, data, version, pid } = status;
  const behind = base_url === listen ? '' : ` for ${base_url}`;
  stream.write(
    `svc gateway ${version} listens on ${listen}${behind}, data in ${data} (pid ${pid}).\n`,
  );
}

main().catch((error: unknown) => {
  process.stderr.write(`svc: ${startFailureText(error)}\n`);
  process.exit(1);
});
