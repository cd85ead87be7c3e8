import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
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

const marks = (): string[] => readdirSync(folder.path).filter((name) => name !== 'blobs');

describe('a blob that is dropped while a process copies the project', () => {
  it('stays as long as the copy takes, and is erased when it ends', async () => {
    hurryTime(200);
    const mark = await folderMarks(folder.path).announce();
    const [name = ''] = marks();
    const changedAt = (): number => statSync(join(folder.path, name)).mtimeMs;
    const file = await dropped();
    // Long after it would have lapsed.
    for (let renewal = 1; renewal <= 10; renewal += 1) {
      const before = changedAt();
      await expect.poll(changedAt).not.toBe(before);
    }
    expect(existsSync(file)).toBe(true);
    await mark.end();
    await expect.poll(() => existsSync(file)).toBe(false);
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
    hurryTime(200);
    const first = await folderMarks(folder.path).announce();
    const second = await folderMarks(folder.path).announce();
    const file = await dropped();
    await first.end();
    expect(await folderMarks(folder.path).isCopying()).toBe(true);
    await second.end();
    await expect.poll(() => existsSync(file)).toBe(false);
  });
});
