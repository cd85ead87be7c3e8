import { VERSION } from '../shared/lib/version.ts';

const argv = process.argv.slice(2);

// Asked for often, by scripts and editors: answered before anything else is loaded.
if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) {
  process.stdout.write(`${VERSION}\n`);
} else {
  void main();
}

async function main(): Promise<void> {
  const { run } = await import('./run.ts');
  const interruption = new AbortController();
  const interrupt = (signal: NodeJS.Signals) => {
    // Whoever asks twice does not want to wait, unless the command itself listens for the second time.
    if (interruption.signal.aborted && process.listenerCount(signal) === 1) process.exit(130);
    interruption.abort();
  };
  process.on('SIGINT', interrupt);
  process.on('SIGTERM', interrupt);
  // The reader of a pipe may leave early, as `head` does.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    process.exit(error.code === 'EPIPE' ? 0 : 1);
  });
  const { env, stdout, stderr } = process;
  process.exitCode = await run(argv, { env, stdout, stderr, signal: interruption.signal });
}
