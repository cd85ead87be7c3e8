import { execFileSync } from 'node:child_process';
import { rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { svc } from '../helpers/daemon.ts';
import { temporaryFolder } from '../helpers/gateway.ts';
import { required } from '../helpers/require.ts';

const folder = temporaryFolder();
const ballast = (nth: number) => join(folder.path, `ballast-${nth}`);

function run(program: string, ...args: string[]): void {
  execFileSync(program, args, { stdio: 'ignore' });
}

function mounted(): boolean {
  const options = 'size=20m,nr_inodes=60,mode=0700';
  try {
    run('mount', '-t', 'tmpfs', '-o', options, 'tmpfs', folder.path);
    return true;
  } catch {
    return false;
  }
}

const ready = required('no more files', mounted(), 'a tmpfs cannot be mounted here (needs root)');

afterAll(async () => {
  if (ready) {
    await svc(folder.path, ['down']).catch(() => undefined);
    run('umount', '--lazy', folder.path);
  }
  folder.remove();
});

describe.runIf(ready)('a start on a file system that holds few more files', () => {
  it('says at each file it misses what is wrong and what helps, and never prints a stack', async () => {
    const { ffree } = statfsSync(folder.path);
    for (let nth = 0; nth < ffree; nth += 1) writeFileSync(ballast(nth), '');
    const refusals: string[] = [];
    let nth = 0;
    for (; nth < ffree; nth += 2) {
      const failure = await svc(folder.path, ['up', '--port', '0']).then(() => null, String);
      if (failure === null) break;
      refusals.push(failure);
      for (const one of [nth, nth + 1]) rmSync(ballast(one), { force: true });
    }
    expect(nth).toBeGreaterThan(3);
    expect(nth).toBeLessThan(ffree);
    for (const refusal of refusals) {
      expect(refusal).toContain('no file can be made (ENOSPC)');
      expect(refusal).toContain('Delete some files: the file system holds no more of them.');
      expect(refusal).not.toMatch(/fault of svc|^\s+at /m);
    }
  });
});
