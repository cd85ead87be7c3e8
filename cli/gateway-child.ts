import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { processCommand } from '../daemon/launch.ts';
import { EXIT } from './exit.ts';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** Runs a process of the gateway as our child: it has our output, gets our signals, and we end with its exit code. */
export async function runGatewayProcess(
  name: 'gateway' | 'gateway/admin',
  options: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<number> {
  const { program, args } = processCommand(name, options);
  // Nothing it does is done with the key of whoever starts it.
  const { SVC_API_KEY: _, ...rest } = env;
  const child = spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit'], env: rest });
  const passOn = (signal: NodeJS.Signals): void => {
    child.kill(signal);
  };
  // Also the second one, with which somebody says that they do not want to wait.
  for (const signal of SIGNALS) process.on(signal, passOn);
  try {
    const [code] = (await once(child, 'exit')) as [number | null];
    return code ?? EXIT.refused;
  } finally {
    for (const signal of SIGNALS) process.off(signal, passOn);
  }
}
