import { hash } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { BlobSizeError } from '../../../gateway/lib/durable-files.ts';
import { FileBlobStore, isMissing } from '../../../gateway/blobs/blob-store.ts';
import { temporaryFolder } from '../../helpers/gateway.ts';

/** How long the disk takes to remove a file, and whether it takes bytes that come in chunks. */
const disk = { delayMs: 0, full: false };
const { rm, writeFile } = promises;
beforeAll(() => {
  promises.rm = async (path, options) => {
    if (disk.delayMs > 0) await new Promise((resolve) => setTimeout(resolve, disk.delayMs));
    await rm(path, options);
  };
  promises.writeFile = async (file, data) => {
    if (disk.full) throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
    await writeFile(file, data);
  };
  syncBuiltinESMExports();
});
afterAll(() => {
  Object.assign(promises, { rm, writeFile });
  syncBuiltinESMExports();
});

const unreferenced = (): Promise<boolean> => Promise.resolve(false);
let folder: ReturnType<typeof temporaryFolder>;
let blobs: FileBlobStore;
beforeEach(() => {
  disk.delayMs = 0;
  disk.full = false;
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

describe('a blob that is stored already', () => {
  const bytes = Buffer.from('the same bytes');
  const digest = hash('sha256', bytes);

  it('is pinned and not written again', async () => {
    const path = oldFile(digest);
    writeFileSync(path, bytes);
    const { ino } = statSync(path);
    const { release } = await blobs.put(bytes, digest);
    expect(statSync(path).ino).toBe(ino);
    await blobs.remove(digest, unreferenced);
    expect(files()).toEqual([digest]);
    release();
    await blobs.remove(digest, unreferenced);
    expect(files()).toEqual([]);
  });

  it.each(['of another size', '\0'.repeat(bytes.length)])(
    'is written anew when a power cut left its file other than whole: %j',
    async (content) => {
      writeFileSync(oldFile(digest), content);
      await blobs.put(bytes, digest);
      expect(Buffer.from(await blobs.read(digest))).toEqual(bytes);
      expect(files()).toEqual([digest]);
    },
  );

  it('is written once by all who put it at the same time', async () => {
    const all = await Promise.all(Array.from({ length: 10 }, () => blobs.put(bytes)));
    expect(files()).toEqual([digest]);
    for (const { release } of all) {
      await blobs.remove(digest, unreferenced);
      expect(files()).toEqual([digest]);
      release();
    }
    await blobs.remove(digest, unreferenced);
    expect(files()).toEqual([]);
  });

  it('is whole and new when it was put while it was removed, again and again', async () => {
    for (let turn = 0; turn < 20; turn += 1) {
      const [put] = await Promise.all([blobs.put(bytes), blobs.remove(digest, unreferenced)]);
      expect(Buffer.from(await blobs.read(digest))).toEqual(bytes);
      put.release();
    }
  });
});

describe('bytes in pieces', () => {
  it('are one blob', async () => {
    const pieces = Array.from({ length: 3000 }, (_, number) => Buffer.from(`${number},`));
    const whole = Buffer.concat(pieces);
    const { digest } = await blobs.put(pieces);
    expect(digest).toBe(hash('sha256', whole));
    expect(whole.equals(await blobs.read(digest))).toBe(true);
    const { ino } = statSync(join(folder.path, digest.slice(0, 2), digest));
    await blobs.put([...pieces]);
    expect(statSync(join(folder.path, digest.slice(0, 2), digest)).ino).toBe(ino);
  });

  it('may be none', async () => {
    const { digest } = await blobs.put([Buffer.alloc(0)]);
    expect(await blobs.read(digest)).toHaveLength(0);
  });

  it('leave nothing behind when their file cannot be put in place', async () => {
    const digest = hash('sha256', 'in the way');
    mkdirSync(join(folder.path, digest.slice(0, 2), digest), { recursive: true });
    await expect(blobs.put(Buffer.from('in the way'))).rejects.toThrow('EISDIR');
    expect(readdirSync(join(folder.path, 'incoming'))).toEqual([]);
  });
});

async function* chunks(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

/** Some bytes, and no end of them before this is done. */
async function* chunksUntil(done: Promise<unknown>): AsyncGenerator<Uint8Array> {
  yield Buffer.from('1234');
  await done;
  yield Buffer.from('567');
}

describe('bytes that come in chunks', () => {
  it('are stored under their digest, and pinned', async () => {
    const { digest, release } = await blobs.putStream(chunks('one ', '', 'two'), 7);
    expect(digest).toBe(hash('sha256', 'one two'));
    await blobs.remove(digest, unreferenced);
    expect(files()).toEqual([digest]);
    expect(Buffer.from(await blobs.read(digest)).toString()).toBe('one two');
    release();
  });

  it('may be none', async () => {
    const { digest } = await blobs.putStream(chunks(), 0);
    expect(await blobs.read(digest)).toHaveLength(0);
  });

  it('are refused when they are more than announced, without asking for the rest', async () => {
    let asked = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (;;) {
        asked += 1;
        yield Buffer.from('1234');
      }
    }
    await expect(blobs.putStream(endless(), 7)).rejects.toBeInstanceOf(BlobSizeError);
    expect(asked).toBe(2);
    expect(files()).toEqual([]);
  });

  it('are refused when they are fewer than announced', async () => {
    await expect(blobs.putStream(chunks('123456'), 7)).rejects.toBeInstanceOf(BlobSizeError);
    expect(files()).toEqual([]);
  });

  it('leave nothing when their sender fails', async () => {
    const sender = new EventEmitter();
    const rest = once(sender, 'never');
    // It may fail before it is asked for.
    rest.catch(() => undefined);
    const stored = blobs.putStream(chunksUntil(rest), 7);
    await vi.waitFor(() => expect(files()).toHaveLength(1), { timeout: 60_000 });
    sender.emit('error', new Error('gone'));
    await expect(stored).rejects.toThrow('gone');
    expect(files()).toEqual([]);
  });

  it('are UNAVAILABLE while the disk is full', async () => {
    disk.full = true;
    const error = { code: 'UNAVAILABLE', details: { retry_after: 5 } };
    await expect(blobs.putStream(chunks('1234'), 4)).rejects.toMatchObject(error);
    expect(files()).toEqual([]);
  });

  it('are no blob before the last has come, and stay through a sweep meanwhile', async () => {
    const rest = new EventEmitter();
    const stored = blobs.putStream(chunksUntil(once(rest, 'come')), 7);
    const path = await vi.waitFor(
      () => {
        const [name = ''] = readdirSync(join(folder.path, 'incoming'));
        expect(readFileSync(join(folder.path, 'incoming', name), 'utf8')).toBe('1234');
        return join(folder.path, 'incoming', name);
      },
      { timeout: 60_000 },
    );
    expect(readdirSync(folder.path)).toEqual(['incoming']);
    // As after hours on a slow line.
    utimesSync(path, 1, 1);
    await blobs.sweep(unreferenced, Date.now());
    expect(files()).toHaveLength(1);
    rest.emit('come');
    const { digest } = await stored;
    expect(files()).toEqual([digest]);
  });

  it('of a run that died are swept after an hour', async () => {
    void blobs.putStream(chunksUntil(new Promise(() => undefined)), 7);
    const name = await vi.waitFor(
      () => {
        const [first = ''] = readdirSync(join(folder.path, 'incoming'));
        expect(first).toMatch(/\.tmp$/);
        // It is as old as the last of what was written to it.
        expect(readFileSync(join(folder.path, 'incoming', first), 'utf8')).toBe('1234');
        return first;
      },
      { timeout: 60_000 },
    );
    const next = new FileBlobStore(folder.path);
    await next.sweep(unreferenced, Date.now());
    expect(files()).toEqual([name]);
    await next.sweep(unreferenced, Date.now() + 3_600_001);
    expect(files()).toEqual([]);
  });
});

describe('a name that is no digest', () => {
  it('is missing, wherever it leads', async () => {
    const outside = join(folder.path, '..', 'outside');
    writeFileSync(outside, 'kept');
    try {
      const nested = new FileBlobStore(join(folder.path, 'blobs'));
      // The first two letters are a folder of their own.
      const name = '../../../outside';
      await expect(nested.read(name)).rejects.toSatisfy(isMissing);
      await expect(nested.open(name)).rejects.toSatisfy(isMissing);
      await expect(nested.openFile(name, { isWhole: true })).rejects.toSatisfy(isMissing);
      await expect(nested.remove(name, unreferenced)).rejects.toSatisfy(isMissing);
      expect(readFileSync(outside, 'utf8')).toBe('kept');
    } finally {
      rmSync(outside);
    }
  });

  it('is left alone by a sweep', async () => {
    oldFile('lost');
    await blobs.sweep(unreferenced, Date.now());
    expect(files()).toEqual(['lost']);
  });
});

describe('an open blob', () => {
  it('is read to its end though it is removed meanwhile', async () => {
    const { digest, release } = await blobs.put(Buffer.from('0123456789'));
    const opened = await blobs.open(digest);
    release();
    await blobs.remove(digest, unreferenced);
    expect((await buffer(opened)).toString()).toBe('0123456789');
    await expect(blobs.open(digest)).rejects.toSatisfy(isMissing);
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
