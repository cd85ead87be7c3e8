import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { filesUnder } from '../../helpers/files.ts';
import { fieldsOf, parsedLine } from '../tools/fakes.ts';
import { asNobody } from '../../helpers/nobody.ts';
import { FakeDisk, noise } from './fake-disk.ts';

const MB = 1024 * 1024;

let disk: FakeDisk;
let dir: string;
let outside: string;
beforeEach(async () => {
  disk = await FakeDisk.start();
  dir = join(disk.folder, 'dir');
  outside = join(disk.folder, 'outside');
  mkdirSync(dir);
  mkdirSync(outside);
});
afterEach(() => disk.stop());

function local(name: string | Buffer, content: string | Buffer = ''): void {
  if (typeof name === 'string') mkdirSync(dirname(join(dir, name)), { recursive: true });
  const path = Buffer.concat([Buffer.from(`${dir}/`), Buffer.from(name)]);
  writeFileSync(path, content);
}

/** Files below the folder by their names, with their texts. */
function localTexts(): Record<string, string> {
  const found = filesUnder(dir).toSorted();
  return Object.fromEntries(
    found.map((path) => [path.slice(dir.length + 1), readFileSync(path, 'utf8')]),
  );
}

async function sync(...flags: string[]) {
  const { code, out, err } = await disk.svc(['file', 'sync', dir, 'site', ...flags]);
  const report = out === '' ? {} : parsedLine(out);
  const { items, ...sums } = report;
  const all = Array.isArray(items) ? items.map(fieldsOf) : [];
  const by = (outcome: string) =>
    all.filter((item) => item['outcome'] === outcome).map((item) => item['file']);
  return { code, err, sums, by, items: all };
}

describe('svc file sync, up', () => {
  it('sends what is new or changed and leaves the rest alone', async () => {
    local('index.html', '<p>');
    local('a/b/deep.txt', 'deep');
    local('same.txt', 'same');
    local('resized.txt', 'longer than before');
    local('edited.txt', 'aaa');
    disk.put('site/same.txt', 'same');
    disk.put('site/resized.txt', 'short');
    disk.put('site/edited.txt', 'bbb');
    disk.put('site/old.txt', 'old');
    disk.put('site2/other.txt', 'other');
    const { code, sums, by } = await sync();
    expect(code).toBe(0);
    expect(sums).toEqual({
      sent: 4,
      received: 0,
      deleted: 0,
      unchanged: 1,
      failed: 0,
      skipped: 0,
      bytes: 3 + 4 + 18 + 3,
      dry_run: false,
    });
    expect(by('done')).toEqual(['a/b/deep.txt', 'edited.txt', 'index.html', 'resized.txt']);
    expect(disk.calls('PUT').toSorted()).toEqual(by('done').map((file) => `site/${String(file)}`));
    expect(disk.files.get('site/index.html')?.type).toBe('text/html');
    expect([disk.text('site/edited.txt'), disk.text('site/old.txt')]).toEqual(['aaa', 'old']);
    expect((await sync()).sums).toMatchObject({ sent: 0, unchanged: 5, bytes: 0 });
  });

  it('only shows what it would do', async () => {
    local('new.txt', 'new');
    disk.put('site/old.txt', 'old');
    const { code, sums, by, items } = await sync('--delete', '--dry-run');
    expect(code).toBe(0);
    expect(sums).toMatchObject({ sent: 1, deleted: 1, bytes: 3, dry_run: true });
    expect(by('planned')).toEqual(['new.txt', 'old.txt']);
    expect(items[0]).toEqual({
      action: 'send',
      path: 'site/new.txt',
      file: 'new.txt',
      size_bytes: 3,
      reason: 'new',
      outcome: 'planned',
      error: null,
    });
    expect(disk.seen.every((one) => one.startsWith('GET /v1/files?'))).toBe(true);
  });

  it('removes what is gone here when told to, below the prefix alone', async () => {
    local('kept.txt', 'kept');
    disk.put('site/kept.txt', 'kept');
    disk.put('site/gone.txt', 'gone');
    disk.put('sites.txt', 'other');
    const { code, sums } = await sync('--delete');
    expect([code, sums['deleted']]).toEqual([0, 1]);
    expect([...disk.files.keys()].toSorted()).toEqual(['site/kept.txt', 'sites.txt']);
  });

  it('does not empty the disk for a folder with nothing in it', async () => {
    disk.put('site/a.txt', 'a');
    const { code, err } = await sync('--delete');
    expect([code, err]).toEqual([
      2,
      expect.stringContaining('would remove everything on the other side: 1 file.'),
    ]);
    expect(disk.files.size).toBe(1);
  });

  it('reads the whole list, and four files at a time go over', async () => {
    for (let at = 0; at < 250; at += 1) disk.put(`site/${String(at).padStart(3, '0')}`, 'x');
    for (let at = 0; at < 12; at += 1) local(`n${at}`, 'y');
    const { sums } = await sync('--delete');
    expect(sums).toMatchObject({ sent: 12, deleted: 250 });
    expect(disk.busiest).toBe(4);
  });

  it('goes on when one file fails, and says which', async () => {
    for (const name of ['a.txt', 'b.txt', 'c.txt']) local(name, name);
    local('big.bin', noise(2 * MB));
    disk.refusals.set('site/b.txt', [409, 'QUOTA_EXCEEDED']);
    const { code, err, sums, by, items } = await sync();
    expect(code).toBe(1);
    expect(sums).toMatchObject({ sent: 3, failed: 1, bytes: 10 + 2 * MB });
    expect(by('failed')).toEqual(['b.txt']);
    expect(items[1]).toMatchObject({ error: 'QUOTA_EXCEEDED: QUOTA_EXCEEDED.' });
    expect(err).toContain('SYNC_INCOMPLETE: 1 of 4 files failed.');
    expect(err).toContain('  b.txt: QUOTA_EXCEEDED');
  });

  it.each([
    [401, 'KEY_REVOKED', 4],
    [503, 'UNAVAILABLE', 7],
  ])('gives up where all others would end the same way: %i %s', async (status, refusal, exit) => {
    for (let at = 0; at < 20; at += 1) local(`${String(at).padStart(2, '0')}.txt`, 'x');
    disk.refusals.set('site/00.txt', [status, refusal]);
    const { code, by } = await sync();
    expect(code).toBe(exit);
    expect(by('failed')).toEqual(['00.txt']);
    expect(by('open').length).toBeGreaterThan(10);
  });

  it('waits when it is told to come back', async () => {
    local('a.txt', 'a');
    disk.limited = 3;
    expect((await sync()).sums).toMatchObject({ sent: 1, failed: 0 });
  });

  it('leaves out links and sockets with a line each, and what they stand for on the disk', async () => {
    writeFileSync(join(outside, 'secret'), 'secret');
    local('a.txt', 'a');
    symlinkSync(join(outside, 'secret'), join(dir, 'link'));
    symlinkSync(outside, join(dir, 'folder'));
    const server = createServer().listen(join(dir, 'socket'));
    await once(server, 'listening');
    disk.put('site/link', 'kept');
    disk.put('site/folder/x', 'kept');
    const { code, err, sums } = await sync('--delete');
    expect(code).toBe(0);
    expect(err.trim().split('\n').toSorted()).toEqual([
      'Skipped: folder (a symbolic link)',
      'Skipped: link (a symbolic link)',
      'Skipped: socket (a socket)',
    ]);
    expect(sums).toMatchObject({ sent: 1, deleted: 0, skipped: 3 });
    expect(disk.text('site/link')).toBe('kept');
    server.close();
  });

  it('reports names that are no paths, and what is too large', async () => {
    local('good.txt', 'x');
    local(Buffer.from('ctl\u0001.txt'), 'x');
    local(Buffer.from([0x63, 0x61, 0x66, 0xe9]), 'x');
    local('huge.bin');
    truncateSync(join(dir, 'huge.bin'), 100 * MB + 1);
    const { code, sums, by, items } = await sync();
    expect(code).toBe(1);
    expect(sums).toMatchObject({ sent: 1, failed: 3 });
    expect(by('failed')).toEqual(['caf\\xe9', 'ctl\u0001.txt', 'huge.bin']);
    expect(items[0]?.['error']).toBe("Its name isn't valid UTF-8.");
    expect(disk.calls('PUT')).toEqual(['site/good.txt']);
  });

  it('removes nothing when a folder is closed to it', async () => {
    local('closed/a.txt', 'a');
    local('b.txt', 'b');
    disk.put('site/closed/a.txt', 'a');
    disk.put('site/gone.txt', 'x');
    chmodSync(join(dir, 'closed'), 0);
    const { code, err } = await asNobody([disk.folder, dir], () => sync('--delete'));
    chmodSync(join(dir, 'closed'), 0o700);
    expect(code).toBe(1);
    expect(err).toContain('svc deleted nothing');
    expect(disk.files.size).toBe(3);
  });

  it('needs a folder', async () => {
    const missing = await disk.svc(['file', 'sync', join(dir, 'no'), 'site']);
    expect([missing.code, missing.err]).toEqual([2, expect.stringContaining('No folder')]);
    local('a.txt', 'x');
    const file = await disk.svc(['file', 'sync', join(dir, 'a.txt'), 'site']);
    expect([file.code, file.err]).toEqual([2, expect.stringContaining("isn't a folder")]);
    const prefix = await disk.svc(['file', 'sync', dir, '../site']);
    expect([prefix.code, prefix.err]).toEqual([
      2,
      expect.stringContaining("isn't a valid file path"),
    ]);
  });
});

describe('svc file sync, down', () => {
  it('receives what is new or changed, into folders it makes', async () => {
    local('same.txt', 'same');
    local('edited.txt', 'old');
    local('mine.txt', 'mine');
    disk.put('site/same.txt', 'same');
    disk.put('site/edited.txt', 'new');
    disk.put('site/a/b/deep.txt', 'deep');
    disk.put('site/empty', '');
    disk.put('site/big', 'z'.repeat(2 * MB));
    const { code, sums } = await sync('--down');
    expect(code).toBe(0);
    expect(sums).toMatchObject({ received: 4, unchanged: 1, bytes: 7 + 2 * MB });
    expect(localTexts()).toEqual({
      'same.txt': 'same',
      'edited.txt': 'new',
      'mine.txt': 'mine',
      'a/b/deep.txt': 'deep',
      empty: '',
      big: 'z'.repeat(2 * MB),
    });
  });

  it('makes the folder', async () => {
    disk.put('site/a.txt', 'a');
    const fresh = join(disk.folder, 'fresh/below');
    expect((await disk.svc(['file', 'sync', fresh, 'site', '--down'])).code).toBe(0);
    expect(readFileSync(join(fresh, 'a.txt'), 'utf8')).toBe('a');
  });

  it('removes what is gone there when told to, with the folders that are empty then', async () => {
    local('a.txt', 'a');
    local('old/deep/b.txt', 'b');
    local('mixed/c.txt', 'c');
    symlinkSync(outside, join(dir, 'mixed/link'));
    writeFileSync(join(outside, 'x'), 'x');
    disk.put('site/a.txt', 'a');
    const shown = await sync('--down', '--delete', '--dry-run');
    expect(shown.by('planned')).toEqual(['mixed/c.txt', 'old/deep/b.txt']);
    expect(existsSync(join(dir, 'old/deep/b.txt'))).toBe(true);
    const { code, sums } = await sync('--down', '--delete');
    expect([code, sums['deleted']]).toEqual([0, 2]);
    expect(existsSync(join(dir, 'old'))).toBe(false);
    expect(existsSync(join(dir, 'mixed/link/x'))).toBe(true);
  });

  it('does not empty the folder for a prefix with nothing below it', async () => {
    local('a.txt', 'a');
    const { code, err } = await sync('--down', '--delete');
    expect([code, err]).toEqual([2, expect.stringContaining('site/ on the disk is empty')]);
    expect(localTexts()).toEqual({ 'a.txt': 'a' });
  });

  it('puts a folder where a file stood, and a file where a folder stood', async () => {
    local('a', 'file');
    local('b/c', 'file');
    disk.put('site/a/x', 'x');
    disk.put('site/b', 'b');
    expect((await sync('--down', '--delete')).code).toBe(0);
    expect(localTexts()).toEqual({ 'a/x': 'x', b: 'b' });
  });

  const tooLong = 'x'.repeat(600);
  it.each([
    '../evil',
    'a/../../evil',
    'a/..',
    '/etc/evil',
    'a//evil',
    './evil',
    'a/./evil',
    'evil/',
    '',
    'e\u0000vil',
    'e\u001b[2Jvil',
    'LONG',
  ])('writes nothing for the path %j', async (text) => {
    const path = text.replace('LONG', tooLong);
    disk.put('site/good.txt', 'good');
    disk.extra = [`site/${path}`];
    const before = filesUnder(disk.folder).length;
    const { code, sums, items } = await sync('--down');
    expect(code).toBe(1);
    expect(sums).toMatchObject({ received: 1, failed: 1 });
    expect(items.find(({ file }) => file === path)?.['error']).toMatch(/^The path doesn't fit/);
    expect(filesUnder(disk.folder)).toHaveLength(before + 1);
    expect(disk.calls('GET')).toEqual(['site/good.txt']);
  });

  it('takes absolute paths for what they are when the whole disk is meant', async () => {
    disk.extra = ['/etc/evil', '../evil'];
    const { code, out } = await disk.svc(['file', 'sync', dir, '/', '--down']);
    expect([code, parsedLine(out)['failed']]).toEqual([1, 2]);
    expect(localTexts()).toEqual({});
  });

  it('follows no link out of the folder', async () => {
    symlinkSync(outside, join(dir, 'link'));
    symlinkSync(join(outside, 'target'), join(dir, 'file'));
    symlinkSync('.', join(dir, 'here'));
    for (const path of ['link/x', 'link/y/z', 'file', 'here/x']) disk.put(`site/${path}`, 'evil');
    disk.put('site/good.txt', 'good');
    const { code, by } = await sync('--down');
    expect(code).toBe(1);
    expect(by('failed')).toEqual(['file', 'here/x', 'link/x', 'link/y/z']);
    expect(filesUnder(outside)).toEqual([]);
    expect(readFileSync(join(dir, 'good.txt'), 'utf8')).toBe('good');
  });

  it('leaves nothing of a download that breaks off, and goes on', async () => {
    local('big.bin', 'before');
    disk.put('site/big.bin', noise(2 * MB));
    disk.put('site/small.txt', 'small');
    disk.cutAfter = MB;
    const { code, by, items } = await sync('--down');
    expect(code).toBe(1);
    expect([by('done'), by('failed')]).toEqual([['small.txt'], ['big.bin']]);
    expect(items[0]?.['error']).toMatch(/^TRANSFER_BROKEN/);
    expect(localTexts()).toEqual({ 'big.bin': 'before', 'small.txt': 'small' });
  });

  it('leaves nothing half-done when it is interrupted', async () => {
    for (let at = 0; at < 6; at += 1) disk.put(`site/${at}.bin`, noise(2 * MB));
    disk.stallAfter = MB;
    const stop = new AbortController();
    const line = ['file', 'sync', dir, 'site', '--down'];
    const syncing = disk.svc(line, { signal: stop.signal });
    await expect.poll(() => filesUnder(dir).length).toBe(4);
    stop.abort();
    const { code, out } = await syncing;
    expect([code, filesUnder(dir)]).toEqual([130, []]);
    expect(parsedLine(out)).toMatchObject({ received: 0, failed: 0, bytes: 0 });
    expect(out.match(/"outcome":"open"/g)).toHaveLength(6);
  });

  it('takes no notice of what an earlier download left here', async () => {
    local('.svc-0123456789ab.part', 'half');
    disk.put('site/a.txt', 'a');
    expect((await sync('--down', '--delete')).sums).toMatchObject({ received: 1, deleted: 0 });
    expect((await sync()).sums).toMatchObject({ sent: 0, unchanged: 1 });
  });
});

describe('svc file sync on a terminal', () => {
  it('is a table with a line of sums', async () => {
    local('new.txt', 'new');
    local('b.txt', 'b');
    disk.refusals.set('site/b.txt', [409, 'QUOTA_EXCEEDED']);
    const line = ['file', 'sync', dir, 'site', '--no-color'];
    const { out, err } = await disk.svc(line, { terminal: true });
    expect(out.split('\n')).toEqual([
      '           SIZE  FILE            PROBLEM',
      'failed   1 byte  b.txt           QUOTA_EXCEEDED: QUOTA_EXCEEDED.',
      'sent    3 bytes  new.txt  (new)',
      '',
      '1 sent, 1 failed; 3 bytes',
      '',
    ]);
    expect(err).toMatch(/^SYNC_INCOMPLETE: 1 of 2 files failed\.\n\w/);
  });

  it('names the file and breaks its problem between words where the terminal is narrow', async () => {
    const name = 'a-long-name-of-a-report-that-nobody-can-read.txt';
    local(name, 'b');
    disk.refusals.set(`site/${name}`, [409, 'QUOTA_EXCEEDED']);
    const { out } = await disk.svc(['file', 'sync', dir, 'site'], { terminal: true, columns: 24 });
    const lines = [`failed  ${name}`, '  QUOTA_EXCEEDED:', '  QUOTA_EXCEEDED.'];
    expect(out.split('\n').slice(2, 5)).toEqual(lines);
  });
});
