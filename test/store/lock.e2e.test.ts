import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { takeLock } from '../../shared/store/engine/lock.ts';
import { isAlive, lockHolder } from '../../shared/host/processes.ts';
import { temporaryFolder } from '../helpers/gateway.ts';

const MODULE = resolve('shared/store/engine/lock.ts');
const children: ChildProcess[] = [];
let folder: ReturnType<typeof temporaryFolder>;
let file: string;

beforeEach(() => {
  folder = temporaryFolder();
  file = join(folder.path, 'data', 'lock');
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  folder.remove();
});

/** Another process that takes the lock, says whether it got it, and stays. */
async function taker(): Promise<{ child: ChildProcess; won: boolean }> {
  const code = `
    import { takeLock } from ${JSON.stringify(MODULE)};
    process.stdout.write(takeLock(${JSON.stringify(file)}) ? 'won' : 'lost');
    setTimeout(() => undefined, 60_000);`;
  const args = ['--import', 'tsx', '--input-type=module', '--eval', code];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  const said = await new Promise<string>((done) => {
    child.stdout.once('data', (bytes: Buffer) => done(bytes.toString()));
  });
  return { child, won: said === 'won' };
}

describe('the lock of a data folder', () => {
  it('is held by one process, and free again after kill -9', async () => {
    const first = await taker();
    expect(first.won).toBe(true);
    expect((await taker()).won).toBe(false);
    expect(takeLock(file)).toBeNull();
    expect(lockHolder(file)).toBe(first.child.pid);

    first.child.kill('SIGKILL');
    await once(first.child, 'exit');
    expect(lockHolder(file)).toBeNull();
    const lock = takeLock(file);
    expect(lock).not.toBeNull();
    expect((await taker()).won).toBe(false);
    lock?.release();
    expect((await taker()).won).toBe(true);
  });

  it('is held by nobody where there is no file', () => {
    expect(lockHolder(file)).toBeNull();
  });
});

describe('isAlive', () => {
  it('tells a running process from one that has ended, collected or not', async () => {
    const { child } = await taker();
    const pid = child.pid ?? 0;
    expect(isAlive(pid)).toBe(true);
    expect(isAlive(process.pid)).toBe(true);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(isAlive(pid)).toBe(false);
  });
});
