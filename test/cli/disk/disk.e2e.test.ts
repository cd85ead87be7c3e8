import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Harness } from '../../surface/harness.ts';
import { filesUnder } from '../../helpers/files.ts';
import { fieldsOf, listenHttp, parsedLine } from '../tools/fakes.ts';
import { noise, sha256 } from './fake-disk.ts';

const MB = 1024 * 1024;

let daemon: Harness;
let work: string;
beforeAll(async () => {
  daemon = await Harness.local('disk-test');
  work = mkdtempSync(join(tmpdir(), 'svc-disk-e2e-'));
});
afterAll(async () => {
  await daemon.stop();
  rmSync(work, { recursive: true, force: true });
});

/** A process of the executable, with its streams. */
function start(args: readonly string[], more: Record<string, string> = {}) {
  const child = spawn(process.execPath, [daemon.bundle, ...args], {
    env: { ...daemon.env, ...more },
    cwd: work,
  });
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
  // Who reads no input closes the pipe while we write.
  child.stdin.on('error', () => undefined);
  const ended = new Promise<{ code: number | null; out: Buffer; err: string }>((resolve) => {
    child.on('close', (code) => {
      resolve({ code, out: Buffer.concat(out), err: Buffer.concat(err).toString('utf8') });
    });
  });
  return { child, ended };
}

describe('files, through the executable and the daemon', () => {
  it.each([5, 5 * MB])('come back as they went (%i bytes)', async (size) => {
    const bytes = noise(size);
    const [from, to] = [join(work, `from-${size}`), join(work, `to-${size}`)];
    writeFileSync(from, bytes);
    const put = await daemon.svc('file', 'put', from, `sizes/${size} ü.bin`);
    expect(put).toMatchObject({ code: 0, err: '' });
    expect(parsedLine(put.out)).toMatchObject({ size_bytes: size, sha256: sha256(bytes) });
    const get = await daemon.svc('file', 'get', `sizes/${size} ü.bin`, to);
    expect(get).toMatchObject({ code: 0, err: '' });
    expect(readFileSync(to).equals(bytes)).toBe(true);
  });

  it('come from a pipe and go into one', async () => {
    const bytes = noise(5 * MB);
    const put = start(['file', 'put', '--content-type', 'text/x-noise', '-', 'piped']);
    put.child.stdin.end(bytes);
    const { code, out } = await put.ended;
    expect(code).toBe(0);
    expect(parsedLine(out.toString('utf8'))).toMatchObject({
      sha256: sha256(bytes),
      content_type: 'text/x-noise',
    });
    const get = await start(['file', 'get', 'piped', '-']).ended;
    expect([get.code, get.out.equals(bytes)]).toEqual([0, true]);
  });

  it('end a pipe that brings more than a file may have', async () => {
    const { child, ended } = start(['file', 'put', '--content-type', 'a/b', '-', 'endless']);
    const piece = Buffer.alloc(MB);
    const more = (): void => {
      while (child.stdin.writable && child.stdin.write(piece));
    };
    child.stdin.on('drain', more);
    more();
    const { code, err } = await ended;
    expect([code, err]).toEqual([1, expect.stringMatching(/^PAYLOAD_TOO_LARGE: Standard input/)]);
  });

  it('go up and down as folders', async () => {
    const [site, copy] = [join(work, 'site'), join(work, 'copy')];
    mkdirSync(join(site, 'a/b'), { recursive: true });
    writeFileSync(join(site, 'index.html'), '<p>');
    writeFileSync(join(site, 'a/b/ü %2F.txt'), 'deep');
    writeFileSync(join(site, 'a/big.bin'), noise(2 * MB));
    const up = await daemon.svc('file', 'sync', site, 'site');
    expect(parsedLine(up.out)).toMatchObject({ sent: 3, failed: 0 });
    const down = await daemon.svc('file', 'sync', copy, 'site/', '--down');
    expect(parsedLine(down.out)).toMatchObject({ received: 3, failed: 0 });
    for (const path of filesUnder(site)) {
      const there = join(copy, path.slice(site.length));
      expect(sha256(readFileSync(there))).toBe(sha256(readFileSync(path)));
    }
    rmSync(join(site, 'a'), { recursive: true });
    const mirrored = await daemon.svc('file', 'sync', site, 'site', '--delete');
    expect(parsedLine(mirrored.out)).toMatchObject({ deleted: 2, unchanged: 1 });
    const back = await daemon.svc('file', 'sync', copy, 'site', '--down', '--delete');
    expect(parsedLine(back.out)).toMatchObject({ deleted: 2, unchanged: 1 });
    expect(existsSync(join(copy, 'a'))).toBe(false);
  });

  it('stand in the list and in the usage', async () => {
    const list = parsedLine((await daemon.svc('file', 'list', 'sizes/')).out);
    expect(list['items']).toHaveLength(2);
    const { disk, transfer } = parsedLine((await daemon.svc('usage')).out);
    expect(fieldsOf(disk)).toMatchObject({ upload_bytes: 0, limit_bytes: 1024 * MB });
    expect(Number(fieldsOf(transfer)['used_bytes'])).toBeGreaterThan(MB);
  });
});

describe('Ctrl-C', () => {
  it('ends a command that reads a pipe, and nothing is saved or left', async () => {
    const temporary = join(work, 'tmp');
    mkdirSync(temporary);
    const line = ['file', 'put', '--content-type', 'a/b', '-', 'half'];
    const { child, ended } = start(line, { TMPDIR: temporary });
    // Written is what the command has read, but for what the pipe holds.
    await new Promise((resolve) => child.stdin.write(Buffer.alloc(3 * MB), resolve));
    child.kill('SIGINT');
    const { code, err } = await ended;
    expect([code, err]).toEqual([130, '']);
    expect(readdirSync(temporary)).toEqual([]);
    expect((await daemon.svc('file', 'get', 'half', '-')).err).toContain('NOT_FOUND');
  });

  it.each([1, 2])('pressed %i times leaves nothing of a download', async (times) => {
    const folder = mkdtempSync(join(work, 'get-'));
    const server = await listenHttp((request, response) => {
      const file = { path: 'a', size_bytes: 3 * MB, sha256: sha256('') };
      const url = `http://${request.headers.host ?? ''}/d/a`;
      if (request.url !== '/d/a') response.end(JSON.stringify({ ...file, download_url: url }));
      else response.write(Buffer.alloc(MB));
    });
    const more = { SVC_GATEWAY: server.url, SVC_API_KEY: 'svc_live_test' };
    const { child, ended } = start(['file', 'get', 'a', join(folder, 'a')], more);
    // A file without bytes may not be known yet to whom it is to be removed by.
    const sizes = () => filesUnder(folder).map((path) => statSync(path).size);
    await expect.poll(sizes).toEqual([MB]);
    for (let at = 0; at < times; at += 1) child.kill('SIGINT');
    expect((await ended).code).toBe(130);
    expect(readdirSync(folder)).toEqual([]);
    await server.close();
  });
});
