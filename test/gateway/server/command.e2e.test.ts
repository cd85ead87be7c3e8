import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../helpers/gateway.ts';
import type { Env } from './hosted.ts';

const soon = { timeout: 60_000 };

let folder: ReturnType<typeof temporaryFolder>;
let started: Running[] = [];

beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(async () => {
  for (const { child } of started) child.kill('SIGKILL');
  // Until it is gone, it may write into the folder.
  await Promise.all(started.map(({ exited }) => exited));
  started = [];
  folder.remove();
});

interface Running {
  readonly child: ChildProcess;
  readonly exited: Promise<number | null>;
  out: string;
  err: string;
}

function svc(args: readonly string[], env: Env = {}, program = [resolve('dist/svc.cjs')]): Running {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(process.execPath, [...program, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH, HOME, SVC_HOME: join(folder.path, 'home'), ...env },
  });
  const exited = once(child, 'close').then(([code]: unknown[]) => code as number | null);
  const running: Running = { child, exited, out: '', err: '' };
  started.push(running);
  child.stdout.on('data', (bytes: Buffer) => (running.out += bytes.toString()));
  child.stderr.on('data', (bytes: Buffer) => (running.err += bytes.toString()));
  return running;
}

async function gateway(
  args: readonly string[],
  env: Env = {},
  program?: string[],
): Promise<Running> {
  const settings = { SVC_DATA: join(folder.path, 'data'), SVC_LISTEN: '127.0.0.1:0', ...env };
  const running = svc(['gateway', ...args], settings, program);
  await expect.poll(() => running.out, soon).toContain('listening');
  return running;
}

describe('svc gateway', () => {
  it('is one process, so that nobody holds the data after kill -9', async () => {
    const running = await gateway([]);
    expect(running.err).toMatch(/^svc gateway \S+ listens on http:\/\/127\.0\.0\.1:\d+, data in /);
    expect(running.err).toContain(`(pid ${running.child.pid})`);
    running.child.kill('SIGKILL');
    await running.exited;
    const again = await gateway(['--json']);
    expect(again.child.exitCode).toBeNull();
  });

  it('ends cleanly by SIGTERM, with exit code 0', async () => {
    const running = await gateway([]);
    running.child.kill('SIGTERM');
    expect(await running.exited).toBe(0);
    expect(running.out).toContain('"msg":"ended"');
  });

  it('runs from source as well', async () => {
    const running = await gateway([], {}, ['--import', 'tsx', resolve('cli/main.ts')]);
    expect(running.err).toContain(`(pid ${running.child.pid})`);
    running.child.kill('SIGINT');
    expect(await running.exited).toBe(0);
  });

  it('takes a signal that comes twice at once for one', async () => {
    const running = await gateway(['--json']);
    running.child.kill('SIGINT');
    running.child.kill('SIGINT');
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
    expect(running.err).toContain('svc: Some settings are invalid.\n  SVC_LISTEN ');
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
