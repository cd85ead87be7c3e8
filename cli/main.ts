import { VERSION } from '../shared/lib/version.ts';

const argv = process.argv.slice(2);

// Scripts and editors ask for the version often, so answer before loading anything else.
if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) {
  process.stdout.write(`${VERSION}\n`);
} else {
  void main();
}

async function main(): Promise<void> {
  const { alwaysCheckCertificates } = await import('../shared/host/certificate-check.ts');
  const { LostOutput } = await import('./lost-output.ts');
  const { run } = await import('./run.ts');
  const interruption = new AbortController();
  const interrupt = (signal: NodeJS.Signals) => {
    // A second Ctrl-C exits at once, unless the command itself listens for it.
    if (interruption.signal.aborted && process.listenerCount(signal) === 1) process.exit(130);
    interruption.abort();
  };
  process.on('SIGINT', interrupt);
  process.on('SIGTERM', interrupt);
  const { stdout, stderr } = process;
  const lost = new LostOutput();
  const leave = async (error: NodeJS.ErrnoException): Promise<void> => {
    process.exit(await lost.end(error, (text) => stderr.write(text)));
  };
  // Later errors say the same.
  stdout.on('error', () => undefined);
  stdout.once('error', (error: NodeJS.ErrnoException) => void leave(error));
  // Commands that svc runs get the environment as it was.
  const env = { ...process.env };
  alwaysCheckCertificates((text) => stderr.write(`${text}\n`));
  const script = process.argv[1];
  process.exitCode = await run(argv, {
    env,
    stdout,
    stderr,
    script,
    lost,
    signal: interruption.signal,
  });
}
