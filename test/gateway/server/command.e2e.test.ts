import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../helpers/gateway.ts';
import type { Env } from './hosted.ts';

const soon = { timeout: 20_000 };

let folder: ReturnType<typeof temporaryFolder>;
let started: Running[] = [];

beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(async () => {
  for (const { child } of started) endGroup(child, 'SIGKILL');
  // Until it is gone, it may write into the folder.
  await Promise.all(started.map(({ exited }) => exited));
  started = [];
  folder.remove();
});

/** To the command and to what it started, as a terminal or a service manager sends it. */
function endGroup({ pid, exitCode }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid !== undefined && exitCode === null) process.kill(-pid, signal);
}

interface Running {
  readonly child: ChildProcess;
  readonly exited: Promise<number | null>;
  out: string;
  err: string;
}

function svc(args: readonly string[], env: Env = {}): Running {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(process.execPath, [resolve('dist/svc.cjs'), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    env: { PATH, HOME, SVC_HOME: join(folder.path, 'home'), ...env },
  });
  const exited = once(child, 'close').then(([code]: unknown[]) => code as number | null);
  const running: Running = { child, exited, out: '', err: '' };
  started.push(running);
  child.stdout.on('data', (bytes: Buffer) => (running.out += bytes.toString()));
  child.stderr.on('data', (bytes: Buffer) => (running.err += bytes.toString()));
  return running;
}

async function gateway(args: readonly string[], env: Env = {}): Promise<Running> {
  const running = svc(['gateway', ...args], {
    SVC_DATA: join(folder.path, 'data'),
    SVC_LISTEN: '127.0.0.1:0',
    ...env,
  });
  await expect.poll(() => running.out, soon).toContain('listening');
  return running;
}

describe('svc gateway', () => {
  it('runs the gateway as its child and ends with it', async () => {
    const running = await gateway([]);
    expect(running.err).toMatch(/^svc gateway \S+ listens on http:\/\/127\.0\.0\.1:\d+, data in /);
    const pid = Number(/\(pid (\d+)\)/.exec(running.err)?.[1]);
    expect(pid).not.toBe(running.child.pid);
    running.child.kill('SIGTERM');
    expect(await running.exited).toBe(0);
    expect(running.out).toContain('"msg":"ended"');
    expect(() => process.kill(pid, 0)).toThrow(/ESRCH/);
  });

  it('takes a signal that reaches both of them for one', async () => {
    const running = await gateway(['--json']);
    endGroup(running.child, 'SIGINT');
    expect(await running.exited).toBe(0);
    expect(running.out).toContain('"msg":"ended"');
  });

  it('reads the file it is given', async () => {
    const file = join(folder.path, 'gateway.env');
    writeFileSync(file, 'SVC_HOOKS_URL=https://hooks.example.com\nSVC_LOGLEVEL=debug\n');
    const running = await gateway(['--config', file, '--json']);
    expect(JSON.parse(running.out.split('\n')[0] ?? '')).toMatchObject({
      hooks_url: 'https://hooks.example.com',
    });
    await expect.poll(() => running.out, soon).toContain('Did you mean SVC_LOG_LEVEL?');
  });

  it('exits with 1 where it cannot start', async () => {
    const running = svc(['gateway'], { SVC_LISTEN: 'nowhere' });
    expect(await running.exited).toBe(1);
    expect(running.out).toBe('');
    expect(running.err).toContain('svc: The settings are wrong.\n  SVC_LISTEN ');
  });

  it('leaves the data of the daemon alone, also while that does not run', async () => {
    expect(await svc(['up', '--port', '0']).exited).toBe(0);
    expect(await svc(['down']).exited).toBe(0);
    const data = join(folder.path, 'home', 'data');
    const running = svc(['gateway'], { SVC_DATA: data, SVC_LISTEN: '127.0.0.1:0' });
    expect(await running.exited).toBe(1);
    expect(running.err).toContain('belong to the daemon of this machine');
  });
});
