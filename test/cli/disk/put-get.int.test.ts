import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HttpClient } from '../../../cli/call/client.ts';
import { putFile } from '../../../cli/commands/file/put.ts';
import { resolveHome } from '../../../daemon/home.ts';
import { fakeContext, fieldsOf, parsedLine } from '../tools/fakes.ts';
import { FakeDisk, noise, sha256 } from './fake-disk.ts';

const MB = 1024 * 1024;

let disk: FakeDisk;
let work: string;
beforeEach(async () => {
  disk = await FakeDisk.start();
  work = join(disk.folder, 'work');
  mkdirSync(work);
});
afterEach(() => disk.stop());

function local(name: string, content: string | Buffer = ''): string {
  const path = join(work, name);
  writeFileSync(path, content);
  return path;
}

/** What `file put -` does with a stream that brings these pieces. */
async function putStream(
  path: string | undefined,
  pieces: () => Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
) {
  const { env } = disk;
  const client = new HttpClient({ home: resolveHome(env), env, warn: () => undefined });
  const { context, printed } = fakeContext({ client, args: { file: '-', path } });
  async function* stream() {
    yield* pieces();
  }
  const code = await putFile(context, stream);
  return { code, answer: fieldsOf(printed.answers[0]) };
}

describe('svc file put', () => {
  it.each([
    ['nothing', 0],
    ['exactly what a body holds', MB],
  ])('sends %s in one body', async (_, size) => {
    const bytes = noise(size);
    const { code, out } = await disk.svc(['file', 'put', local('a.csv', bytes), 'data/a b.csv']);
    expect(code).toBe(0);
    expect(parsedLine(out)).toMatchObject({
      path: 'data/a b.csv',
      size_bytes: size,
      sha256: sha256(bytes),
      content_type: 'text/csv',
    });
    expect(disk.files.get('data/a b.csv')?.bytes.equals(bytes)).toBe(true);
    expect(disk.seen).toEqual(['PUT /v1/files/data/a%20b.csv']);
  });

  it('uploads one byte more with exactly the headers it is told, and without the key', async () => {
    const bytes = noise(MB + 1);
    const { code } = await disk.svc(['file', 'put', local('big.bin', bytes)]);
    expect(code).toBe(0);
    const kept = disk.files.get('big.bin');
    expect(kept?.type).toBe('application/octet-stream');
    expect(kept?.bytes.equals(bytes)).toBe(true);
    expect(disk.seen.map((one) => one.replace(/upl_\w+/, ''))).toEqual([
      'PUT /v1/files/big.bin',
      'PUT /u/',
      'PUT /v1/files/big.bin',
    ]);
    const [headers] = disk.uploadHeaders;
    expect(headers).toMatchObject({ 'x-signed': 'yes', 'content-length': String(MB + 1) });
    expect(headers).not.toHaveProperty('authorization');
    expect(headers).not.toHaveProperty('transfer-encoding');
  });

  it('keeps the name of the file in a folder that ends with a slash', async () => {
    await disk.svc(['file', 'put', local('may.pdf', 'x'), 'disk://reports/']);
    expect([...disk.files.keys()]).toEqual(['reports/may.pdf']);
  });

  it('sends what calls itself a message about uploads as an upload', async () => {
    const type = 'application/vnd.service.upload+json';
    const file = local('odd.json', '{"upload":1}');
    await disk.svc(['file', 'put', file, '--content-type', type]);
    expect(disk.files.get('odd.json')).toEqual({ bytes: Buffer.from('{"upload":1}'), type });
  });

  it('takes 5 MB of standard input through a file that nobody else can reach', async () => {
    const before = process.env['TMPDIR'];
    process.env['TMPDIR'] = work;
    const piece = noise(MB);
    const names: string[][] = [];
    function* pieces() {
      for (let sent = 0; sent < 5; sent += 1) {
        names.push(readdirSync(work));
        yield piece;
      }
    }
    try {
      const { code, answer } = await putStream('in.bin', pieces);
      expect(code).toBe(0);
      const bytes = Buffer.concat([piece, piece, piece, piece, piece]);
      expect(answer).toMatchObject({ size_bytes: 5 * MB, sha256: sha256(bytes) });
      expect(names.flat()).toEqual([]);
    } finally {
      if (before === undefined) delete process.env['TMPDIR'];
      else process.env['TMPDIR'] = before;
    }
  });

  it('sends small standard input in one body', async () => {
    const { answer } = await putStream('hello.txt', () => [Buffer.from('hel'), Buffer.from('lo')]);
    expect(answer).toMatchObject({ content_type: 'text/plain', size_bytes: 5 });
    expect(disk.seen).toEqual(['PUT /v1/files/hello.txt']);
  });

  it('does not replace a file with the empty output of a command that failed', async () => {
    await putStream('backup.sql', () => [Buffer.from('create table')]);
    await expect(putStream('backup.sql', () => [])).rejects.toMatchObject({
      exit: 1,
      message: 'Standard input is empty, so svc saved nothing.',
      hint: 'To save an empty file, name one: svc file put FILE PATH',
    });
    expect(disk.files.get('backup.sql')?.bytes.toString()).toBe('create table');
  });

  it('reads no further than a file may be long', async () => {
    let given = 0;
    function* endless() {
      const piece = Buffer.alloc(10 * MB);
      for (;;) {
        given += piece.length;
        yield piece;
      }
    }
    await expect(putStream('x', endless)).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
    expect(given).toBe(110 * MB);
    expect(disk.seen).toEqual([]);
  });

  it('refuses more than 100 MB before it asks anybody', async () => {
    const file = local('huge');
    truncateSync(file, 100 * MB + 1);
    const { code, err } = await disk.svc(['file', 'put', file]);
    expect(code).toBe(1);
    expect(err).toContain('104,857,601 bytes; the limit for a file is 100 MB (104,857,600 bytes).');
    expect(disk.seen).toEqual([]);
  });

  it.each([
    ['a body', 10],
    ['an upload', 2 * MB],
  ])('says so when what was saved of %s is something else', async (_, size) => {
    disk.digest = () => sha256('other');
    const { code, err } = await disk.svc(['file', 'put', local('a.bin', noise(size))]);
    expect(code).toBe(1);
    expect(err).toContain(
      'DIGEST_MISMATCH: The file saved as "a.bin" doesn\'t match the original.',
    );
    expect(err).toContain(sha256('other'));
  });

  it.each([
    ['grows', (file: string) => appendFileSync(file, 'more')],
    ['shrinks', (file: string) => truncateSync(file, MB)],
    ['is written anew', (file: string) => writeFileSync(file, noise(3 * MB))],
  ])('saves nothing of a file that %s while it is read', async (_, change) => {
    const file = local('log.bin', noise(3 * MB));
    // Clocks of file systems tick slowly.
    utimesSync(file, new Date(0), new Date(0));
    disk.onUpload = () => change(file);
    const { code, err } = await disk.svc(['file', 'put', file]);
    expect(code).toBe(1);
    expect(err).toContain(`FILE_CHANGED: "${file}" changed while svc read it`);
    expect(disk.files.size).toBe(0);
    // Never completed.
    expect(disk.calls('PUT')).toEqual(['log.bin']);
  });

  it.each([
    [['missing.txt'], "missing.txt\" can't be read (it doesn't exist, ENOENT)", 2],
    [['.'], 'is a folder', 2],
    [['a.txt', '../a'], "isn't a valid file path", 2],
    [['a.txt', 'a//b'], 'without empty segments', 2],
    [['a.txt', 'x', '--content-type', 'a\nb'], "--content-type isn't a valid header value", 2],
  ])('refuses %j', async (args, message, wanted) => {
    local('a.txt', 'x');
    const [file = '', ...rest] = args;
    const { code, err } = await disk.svc(['file', 'put', join(work, file), ...rest]);
    expect([code, err]).toEqual([wanted, expect.stringContaining(message)]);
    expect(disk.seen).toEqual([]);
  });

  it('asks for a path where there is no name', async () => {
    await expect(putStream(undefined, () => [])).rejects.toMatchObject({ exit: 2 });
  });
});

describe('svc file get', () => {
  it.each([0, 5, MB, MB + 1, 3 * MB])('fetches %i bytes', async (size) => {
    const bytes = noise(size);
    disk.put('deep/a.bin', bytes);
    const file = join(work, 'got.bin');
    const { code, out } = await disk.svc(['file', 'get', 'disk://deep/a.bin', file]);
    expect(code).toBe(0);
    expect(parsedLine(out)).toEqual({
      path: 'deep/a.bin',
      file,
      size_bytes: size,
      sha256: sha256(bytes),
    });
    expect(readFileSync(file).equals(bytes)).toBe(true);
    expect(readdirSync(work)).toEqual(['got.bin']);
  });

  it('goes into a folder under its own name', async () => {
    disk.put('deep/a.txt', 'hello');
    const { out } = await disk.svc(['file', 'get', 'deep/a.txt', work]);
    expect(parsedLine(out)['file']).toBe(join(work, 'a.txt'));
  });

  it.each([5, 2 * MB])('prints the bytes alone with - (%i)', async (size) => {
    disk.put('a.txt', 'x'.repeat(size));
    const { code, out } = await disk.svc(['file', 'get', 'a.txt', '-']);
    expect(code).toBe(0);
    expect(out.length).toBe(size);
    expect(sha256(out)).toBe(sha256('x'.repeat(size)));
  });

  it('replaces nothing unless told to', async () => {
    disk.put('a.txt', 'new');
    const file = local('a.txt', 'old');
    chmodSync(file, 0o640);
    const refused = await disk.svc(['file', 'get', 'a.txt', file]);
    expect(refused.code).toBe(1);
    expect(refused.err).toContain('FILE_EXISTS');
    expect(readFileSync(file, 'utf8')).toBe('old');
    expect(disk.seen).toEqual([]);
    expect((await disk.svc(['file', 'get', 'a.txt', file, '--force'])).code).toBe(0);
    expect(readFileSync(file, 'utf8')).toBe('new');
    expect(statSync(file).mode & 0o777).toBe(0o640);
  });

  it('replaces what a link points to, and nothing that is no file', async () => {
    disk.put('a.txt', 'new');
    const real = local('real.txt', 'old');
    symlinkSync(real, join(work, 'link'));
    symlinkSync('/dev/null', join(work, 'null'));
    await disk.svc(['file', 'get', 'a.txt', join(work, 'link'), '--force']);
    expect(readFileSync(real, 'utf8')).toBe('new');
    const { code, err } = await disk.svc(['file', 'get', 'a.txt', join(work, 'null'), '--force']);
    expect([code, err]).toEqual([1, expect.stringContaining("isn't a regular file")]);
  });

  it('leaves nothing of a download that breaks off', async () => {
    disk.put('a.bin', noise(3 * MB));
    disk.cutAfter = MB;
    const { code, err } = await disk.svc(['file', 'get', 'a.bin', join(work, 'a.bin')]);
    expect(code).toBe(7);
    expect(err).toMatch(/^TRANSFER_BROKEN: The download broke off: .*\nNo partial file was left/);
    expect(readdirSync(work)).toEqual([]);
    const printed = await disk.svc(['file', 'get', 'a.bin', '-']);
    expect([printed.code, printed.out]).toEqual([7, '']);
  });

  it.each([5, 2 * MB])('leaves nothing of other bytes than the disk says (%i)', async (size) => {
    disk.put('a.bin', noise(size));
    disk.digest = () => sha256('other');
    const { code, err } = await disk.svc(['file', 'get', 'a.bin', join(work, 'a.bin')]);
    expect([code, err]).toEqual([1, expect.stringContaining('DIGEST_MISMATCH')]);
    expect(readdirSync(work)).toEqual([]);
    expect((await disk.svc(['file', 'get', 'a.bin', '-'])).out).toBe('');
  });

  it('leaves nothing when it is interrupted', async () => {
    disk.put('a.bin', noise(3 * MB));
    disk.stallAfter = MB;
    const stop = new AbortController();
    const { signal } = stop;
    const getting = disk.svc(['file', 'get', 'a.bin', join(work, 'a.bin')], { signal });
    await expect.poll(() => readdirSync(work)).toHaveLength(1);
    stop.abort();
    expect((await getting).code).toBe(130);
    expect(readdirSync(work)).toEqual([]);
  });

  it('says what is missing', async () => {
    const { code, err } = await disk.svc(['file', 'get', 'nowhere', join(work, 'a')]);
    expect([code, err]).toEqual([3, 'NOT_FOUND: Not found.\nNo file "nowhere" in this project.\n']);
    disk.put('a.txt', 'x');
    const folder = await disk.svc(['file', 'get', 'a.txt', join(work, 'no/a.txt')]);
    expect([folder.code, folder.err]).toEqual([1, expect.stringContaining('No folder')]);
  });
});
