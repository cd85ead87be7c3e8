import { hash } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import type * as FsPromises from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FileBlobStore } from '../../gateway/blob-store.ts';
import { temporaryFolder } from '../helpers/gateway.ts';

/** How long the disk takes to remove a file. */
const disk = vi.hoisted(() => ({ delayMs: 0 }));
vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof FsPromises>();
  const rm: typeof real.rm = async (path, options) => {
    if (disk.delayMs > 0) await new Promise((resolve) => setTimeout(resolve, disk.delayMs));
    await real.rm(path, options);
  };
  return { ...real, rm };
});

const unreferenced = (): Promise<boolean> => Promise.resolve(false);
let folder: ReturnType<typeof temporaryFolder>;
let blobs: FileBlobStore;
beforeEach(() => {
  disk.delayMs = 0;
  folder = temporaryFolder();
  blobs = new FileBlobStore(folder.path);
});
afterEach(() => folder.remove());

/** A file as a run before left it, two hours ago. */
function oldFile(name: string): string {
  const path = join(folder.path, name.slice(0, 2), name);
  mkdirSync(join(folder.path, name.slice(0, 2)), { recursive: true });
  writeFileSync(path, 'old');
  const then = Date.now() / 1000 - 7200;
  utimesSync(path, then, then);
  return path;
}

const files = (): string[] =>
  readdirSync(folder.path).flatMap((part) => readdirSync(join(folder.path, part)));

describe('a blob', () => {
  it('that is put while the same is removed is there in the end', async () => {
    const bytes = Buffer.from('the same bytes');
    const first = await blobs.put(bytes);
    first.release();
    disk.delayMs = 100;
    const removal = blobs.remove(first.digest, unreferenced);
    // The removal has looked at the pins and is on its way to the disk.
    await new Promise((resolve) => setTimeout(resolve, 10));
    const again = await blobs.put(bytes);
    await removal;
    expect(Buffer.from(await blobs.read(again.digest)).toString()).toBe('the same bytes');
    again.release();
  });
});

describe('a sweep', () => {
  it('goes on when a file vanishes under it', async () => {
    const names = ['1', '2', '3'].map((end) => `ab${end.repeat(62)}`);
    const paths = names.map(oldFile);
    const asked: string[] = [];
    await blobs.sweep((digest) => {
      // The first that is asked for takes all the others away.
      if (asked.length === 0) for (const path of paths) rmSync(path, { force: true });
      asked.push(digest);
      return Promise.resolve(false);
    }, Date.now());
    expect(asked).toHaveLength(1);
    expect(files()).toEqual([]);
  });

  it('leaves what is being written, and takes what an earlier run left half written', async () => {
    const { digest, release } = await blobs.put(Buffer.from('pinned'));
    oldFile(`${digest}.a.tmp`);
    oldFile(`${hash('sha256', 'left')}.b.tmp`);
    await blobs.sweep(unreferenced, Date.now());
    expect(files().toSorted()).toEqual([digest, `${digest}.a.tmp`]);
    release();
  });

  it('ends when it is told to', async () => {
    oldFile(hash('sha256', 'one'));
    await blobs.sweep(unreferenced, Date.now(), AbortSignal.abort());
    expect(files()).toHaveLength(1);
  });
});
