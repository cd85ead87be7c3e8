import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../helpers/gateway.ts';
import { Disk } from './power-cut/disk.ts';
import { writeImage, type Luck } from './power-cut/image.ts';
import { Random } from './power-cut/random.ts';
import type { LogRecord } from './power-cut/shim.ts';

let folder: ReturnType<typeof temporaryFolder>;
let home: string;
let disk: Disk;
let rootInode: bigint;

beforeEach(() => {
  folder = temporaryFolder();
  home = join(folder.path, 'home');
  mkdirSync(home);
  rootInode = statSync(home, { bigint: true }).ino;
  disk = new Disk(home);
});
afterEach(() => folder.remove());

function tell(op: string, given: Partial<Omit<LogRecord, 'op'>>): void {
  const nothing = { inode: 0n, offset: 0, path: '', other: '', data: Buffer.alloc(0) };
  disk.apply({ ...nothing, ...given, op });
}

function sync(inode: bigint, number: number): void {
  tell('B', { inode, offset: number });
  tell('S', { inode, offset: number });
}

let images = 0;

/** A file's text after a power cut; null if it doesn't exist. */
function after(luck: Luck, name: string, seed = 1): string | null {
  images += 1;
  const image = join(folder.path, `image-${images}`);
  writeImage(disk, image, luck, new Random(seed));
  const path = join(image, name);
  return existsSync(path) ? readFileSync(path, 'latin1') : null;
}

const both = (name: string) => [after('nothing', name), after('everything', name)];

describe('a file', () => {
  beforeEach(() => {
    tell('C', { inode: 7n, path: join(home, 'a') });
    sync(rootInode, 1);
    tell('W', { inode: 7n, data: Buffer.from('old') });
    sync(7n, 2);
  });

  it('keeps what was synced, and may lose what was not', () => {
    tell('W', { inode: 7n, offset: 3, data: Buffer.from('new') });
    expect(both('a')).toEqual(['old', 'oldnew']);
  });

  it('is not kept from what was written while a sync went on', () => {
    tell('B', { inode: 7n, offset: 3 });
    tell('W', { inode: 7n, data: Buffer.from('new') });
    tell('S', { inode: 7n, offset: 3 });
    expect(both('a')).toEqual(['old', 'new']);
  });

  it('never gets back what a failed sync gave up', () => {
    tell('W', { inode: 7n, data: Buffer.from('new') });
    tell('F', { inode: 7n, offset: 3 });
    tell('W', { inode: 7n, offset: 3, data: Buffer.from('er') });
    sync(7n, 4);
    expect(both('a')).toEqual(['older', 'older']);
  });

  it('may keep its length before it is cut', () => {
    tell('T', { inode: 7n, offset: 1 });
    expect(both('a')).toEqual(['old', 'o']);
  });

  it('may have some sectors of what was written, each whole', () => {
    tell('W', { inode: 7n, data: Buffer.alloc(2048, 'x') });
    const seen = new Set<string>();
    for (let seed = 0; seed < 200; seed += 1) {
      const text = (after('mixed', 'a', seed) ?? '').padEnd(2048, '\0');
      const sectors = [0, 512, 1024, 1536].map((at) => text.slice(at, at + 512));
      for (const sector of sectors) {
        expect(['x'.repeat(512), '\0'.repeat(512), 'old'.padEnd(512, '\0')]).toContain(sector);
      }
      seen.add(sectors.map((sector) => (sector.startsWith('x') ? 'x' : '.')).join(''));
    }
    // Also those after one that is missing.
    expect(seen.size).toBeGreaterThan(8);
    expect([...seen].some((one) => /\.x/.test(one))).toBe(true);
  });
});

describe('a name', () => {
  it('is there when its folder was synced, however its file was', () => {
    tell('C', { inode: 7n, path: join(home, 'a') });
    tell('W', { inode: 7n, data: Buffer.from('text') });
    sync(7n, 1);
    expect(both('a')).toEqual([null, 'text']);
    sync(rootInode, 2);
    expect(both('a')).toEqual(['text', 'text']);
  });

  it('goes with the name of a folder above it', () => {
    tell('D', { inode: 8n, path: join(home, 'sub') });
    tell('C', { inode: 7n, path: join(home, 'sub/a') });
    sync(8n, 1);
    expect(both('sub/a')).toEqual([null, '']);
  });

  it('is the old one or the new one when a file is renamed, never none', () => {
    tell('C', { inode: 7n, path: join(home, 'a') });
    sync(rootInode, 1);
    tell('R', { path: join(home, 'a'), other: join(home, 'b') });
    for (let seed = 0; seed < 50; seed += 1) {
      const there = ['a', 'b'].filter((name) => after('mixed', name, seed) !== null);
      expect(there).toHaveLength(1);
    }
  });

  it('that was deleted may be there again', () => {
    tell('C', { inode: 7n, path: join(home, 'a') });
    sync(rootInode, 1);
    tell('U', { path: join(home, 'a') });
    expect(both('a')).toEqual(['', null]);
    sync(rootInode, 2);
    expect(both('a')).toEqual([null, null]);
  });
});

it('what was there before is safe', () => {
  mkdirSync(join(home, 'sub'));
  writeFileSync(join(home, 'sub', 'a'), 'before');
  disk = new Disk(home);
  expect(both('sub/a')).toEqual(['before', 'before']);
});
