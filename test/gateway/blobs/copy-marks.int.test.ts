import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { FileBlobStore } from '../../../gateway/blobs/blob-store.ts';
import { folderMarks } from '../../../gateway/blobs/copy-marks.ts';
import { temporaryFolder } from '../../helpers/gateway.ts';
import { hurryTime } from '../../helpers/hurried-time.ts';

/** Of a project: its blobs are in a folder of their own, and marks next to that. */
let folder: ReturnType<typeof temporaryFolder>;
let blobs: FileBlobStore;
const nobody = async (): Promise<boolean> => false;

beforeEach(() => {
  folder = temporaryFolder();
  blobs = new FileBlobStore(
    join(folder.path, 'blobs'),
    (digest) => void blobs.remove(digest, nobody),
  );
});
afterEach(() => {
  blobs.close();
  folder.remove();
});

/** Stores a blob that no row names, so it's erased at once; returns its file. */
async function dropped(): Promise<string> {
  const { digest, release } = await blobs.put(Buffer.from('one'));
  release();
  return join(folder.path, 'blobs', digest.slice(0, 2), digest);
}

/** Time that goes on by what is told, so that a slow machine doesn't make a mark lapse. */
function stepTime(): { pass(ms: number): Promise<unknown> } {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'],
  });
  onTestFinished(() => void vi.useRealTimers());
  return { pass: (ms) => vi.advanceTimersByTimeAsync(ms) };
}

const marks = (): string[] => readdirSync(folder.path).filter((name) => name !== 'blobs');

async function erased(file: string, time: ReturnType<typeof stepTime>): Promise<void> {
  while (existsSync(file)) {
    await time.pass(5000);
    await turn();
  }
}

describe('a blob that is dropped while a process copies the project', () => {
  it('stays as long as the copy takes, and is erased when it ends', async () => {
    const time = stepTime();
    const mark = await folderMarks(folder.path).announce();
    const [name = ''] = marks();
    const changedAt = (): number => statSync(join(folder.path, name)).mtimeMs;
    const file = await dropped();
    // Long after it would have lapsed.
    for (let renewal = 1; renewal <= 10; renewal += 1) {
      const before = changedAt();
      // A renewal in the same millisecond, or where rounding ends in it, would look like none.
      while (Date.now() <= before + 1) await turn();
      await time.pass(10_000);
      await expect.poll(changedAt).not.toBe(before);
    }
    expect(existsSync(file)).toBe(true);
    await mark.end();
    await erased(file, time);
    expect(marks()).toEqual([]);
  });

  it('is erased some time after the process has died, and its mark is removed', async () => {
    hurryTime(200);
    writeFileSync(join(folder.path, 'copying.killed'), '');
    const file = await dropped();
    await expect.poll(() => existsSync(file)).toBe(false);
    expect(marks()).toEqual([]);
  });

  it('stays while another process still copies it', async () => {
    const time = stepTime();
    const first = await folderMarks(folder.path).announce();
    const second = await folderMarks(folder.path).announce();
    const file = await dropped();
    await first.end();
    expect(await folderMarks(folder.path).isCopying()).toBe(true);
    await second.end();
    await erased(file, time);
  });
});
