import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../helpers/gateway.ts';

let folder: ReturnType<typeof temporaryFolder>;
let child: ChildProcess | null = null;
let exited: Promise<unknown> = Promise.resolve();

beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(async () => {
  child?.kill('SIGKILL');
  await exited;
  folder.remove();
});

/** A gateway whose log goes there; where it listens. */
async function start(stdout: number | 'pipe', level = 'info'): Promise<string> {
  const { PATH = '', HOME = '' } = process.env;
  child = spawn(process.execPath, [resolve('dist/gateway.js')], {
    stdio: ['ignore', stdout, 'pipe'],
    env: {
      PATH,
      HOME,
      SVC_DATA: join(folder.path, 'data'),
      SVC_LISTEN: '127.0.0.1:0',
      SVC_LOG_LEVEL: level,
      SVC_RATE_LIMIT: '0',
    },
  });
  exited = once(child, 'exit');
  let said = '';
  child.stderr?.on('data', (bytes: Buffer) => (said += bytes.toString()));
  await expect.poll(() => said).toContain('listens on');
  return /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0] ?? '';
}

/** Each leaves a line in the log. */
async function refusals(url: string, count: number): Promise<Set<number>> {
  const statuses = new Set<number>();
  for (let n = 0; n < count; n += 50) {
    const fifty = Array.from({ length: 50 }, () => fetch(`${url}/v1/inbox`));
    for (const answer of await Promise.all(fifty)) statuses.add(answer.status);
  }
  return statuses;
}

describe('a gateway whose log', () => {
  it('is on a disk that is full answers as before, and ends as before', async () => {
    const full = openSync('/dev/full', 'w');
    const url = await start(full);
    closeSync(full);
    expect(await refusals(url, 50)).toEqual(new Set([401]));
    child?.kill();
    expect(await exited).toEqual([0, null]);
  });

  it('has lost its reader answers as before, and ends as before', async () => {
    const url = await start('pipe');
    child?.stdout?.destroy();
    expect(await refusals(url, 100)).toEqual(new Set([401]));
    child?.kill();
    expect(await exited).toEqual([0, null]);
  });

  it('is not read by anybody ends all the same', async () => {
    const url = await start('pipe');
    expect(await refusals(url, 1200)).toEqual(new Set([401]));
    child?.kill();
    await exited;
    expect(child?.exitCode ?? child?.signalCode).not.toBeNull();
  });
});
