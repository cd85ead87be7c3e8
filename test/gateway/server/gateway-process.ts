import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { resolve } from 'node:path';

/** A gateway in a process of its own. */
export interface GatewayProcess {
  readonly url: string;
  readonly pid: number;
  /** As a power cut of the process: nothing is finished. */
  kill(): Promise<void>;
  /** Ends it as an operator does. */
  end(): Promise<void>;
}

const PROGRAM = resolve('test/gateway/server/gateway-program.ts');

/** Starts it over a data folder, with settings of mail where given, and waits until it answers. */
export async function startGatewayProcess(
  folder: string,
  openMax: number,
  settings: Readonly<Record<string, string>> = {},
): Promise<GatewayProcess> {
  const child = spawn(process.execPath, ['--import', 'tsx', PROGRAM, folder, String(openMax)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...settings },
  });
  const exited = new Promise<void>((done) => child.once('exit', () => done()));
  const url = await Promise.race([addressOf(child), exited.then(() => null)]);
  if (url === null || child.pid === undefined) throw new Error('The gateway did not start.');
  const ended = async (signal: NodeJS.Signals): Promise<void> => {
    child.kill(signal);
    await exited;
  };
  return { url, pid: child.pid, kill: () => ended('SIGKILL'), end: () => ended('SIGTERM') };
}

async function addressOf(child: ChildProcess): Promise<string> {
  if (!child.stdout) throw new Error('It has no output.');
  for await (const line of createInterface({ input: child.stdout })) {
    return (JSON.parse(line) as { url: string }).url;
  }
  throw new Error('It ended before it answered.');
}
