import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { makeFolder } from '../../../shared/host/make-folder.ts';
import { temporaryFolder } from '../../helpers/gateway.ts';

let folder: ReturnType<typeof temporaryFolder>;

beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

it('makes a folder and those above it, for this user alone', () => {
  const deep = join(folder.path, 'a', 'b');
  expect(makeFolder(deep)).toEqual([deep, join(folder.path, 'a')]);
  expect(statSync(deep).mode & 0o777).toBe(0o700);
  expect(statSync(join(folder.path, 'a')).mode & 0o777).toBe(0o700);
});

it('leaves one that is there as it is', () => {
  const there = join(folder.path, 'there');
  mkdirSync(there, { mode: 0o755 });
  expect(makeFolder(there)).toEqual([]);
  expect(statSync(there).mode & 0o777).toBe(0o755);
});

it('says why it cannot', () => {
  const file = join(folder.path, 'file');
  writeFileSync(file, '');
  expect(() => makeFolder(file)).toThrow(/EEXIST/);
  expect(() => makeFolder(join(file, 'below'))).toThrow(/ENOTDIR/);
  expect(() => makeFolder('/proc/nope/below')).toThrow(/^E[A-Z]+/);
});
