import { hash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { maintain } from '../../../../gateway/projects/maintenance.ts';
import { FakeClock, TestGateway } from '../../../helpers/gateway.ts';
import { rawRequest } from '../../../helpers/raw-http.ts';
import { TestDisk } from '../../../shared/operations/disk.ts';

const MIB = 1024 * 1024;
let clock: FakeClock;
let gateway: TestGateway;
let disk: TestDisk;
beforeEach(async () => {
  clock = new FakeClock();
  gateway = await TestGateway.start({ clock });
  disk = await TestDisk.of(gateway, () => clock.now());
});
afterEach(() => gateway.stop());

interface Answer {
  readonly status: number;
  readonly body: { error?: { code: string; details?: { fields: { path: string }[] } } };
}

async function put(
  url: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await fetch(url, {
    method: 'PUT',
    body,
    headers: { 'content-type': 'text/plain', ...headers },
  });
  return { status: response.status, body: (await response.json()) as Answer['body'] };
}

/** The head of a PUT and the beginning of its body, on a connection of its own. */
async function begin(url: string, sizeBytes: number, body: Uint8Array | string): Promise<Socket> {
  const { hostname, port, pathname } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  const head = [
    `PUT ${pathname} HTTP/1.1`,
    `Host: ${hostname}:${port}`,
    `Content-Length: ${sizeBytes}`,
    'Content-Type: text/plain',
    'Connection: close',
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  socket.write(body);
  return socket;
}

/** All that comes back until the other side closes. */
async function answerOf(socket: Socket): Promise<string> {
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
  if (!socket.closed) await once(socket, 'close');
  return text;
}

const incoming = (): string[] => disk.blobFiles().filter((name) => name.endsWith('.tmp'));
const row = (id: string) => disk.read((store) => store.uploads.find(id));
const isReferenced = (digest: string) => disk.read((store) => store.blobs.isReferenced(digest));

describe('the bytes of an upload', () => {
  it('are stored, and named by its row', async () => {
    const { id, url } = await disk.openUpload({ size: 5 });
    const before = await gateway.call<{ items: unknown[] }>('GET', '/v1/ledger');
    expect(await put(url, 'hello')).toEqual({
      status: 200,
      body: { status: 'received', size_bytes: 5 },
    });
    const digest = hash('sha256', 'hello');
    expect(await row(id)).toMatchObject({ digest, size_bytes: 5 });
    expect(disk.blobFiles()).toEqual([digest]);
    const after = await gateway.call<{ items: unknown[] }>('GET', '/v1/ledger');
    expect(after.body.items).toEqual(before.body.items);
  });

  it('may be none', async () => {
    const { id, url } = await disk.openUpload({ size: 0 });
    expect((await put(url, '')).status).toBe(200);
    expect((await row(id))?.digest).toBe(hash('sha256', ''));
  });

  it('are replaced by those of a later PUT', async () => {
    const { id, url } = await disk.openUpload({ size: 5 });
    await put(url, 'first');
    await put(url, 'again');
    await put(url, 'again');
    const digest = hash('sha256', 'again');
    expect((await row(id))?.digest).toBe(digest);
    await expect.poll(() => disk.blobFiles()).toEqual([digest]);
    // One reference, however often they came.
    expect(await disk.write((store) => store.blobs.dropReference(digest))).toBe(true);
  });

  it('stay where others name them too', async () => {
    const one = await disk.openUpload({ size: 5, path: 'one.txt' });
    const two = await disk.openUpload({ size: 5, path: 'two.txt' });
    await Promise.all([put(one.url, 'hello'), put(two.url, 'hello')]);
    await put(one.url, 'other');
    await disk.project.removeBlob(hash('sha256', 'hello'));
    expect(disk.blobFiles().toSorted()).toEqual(
      [hash('sha256', 'hello'), hash('sha256', 'other')].toSorted(),
    );
  });

  it('come one after another when two send at once', async () => {
    const { id, url } = await disk.openUpload({ size: 6 });
    const first = await begin(url, 6, 'fir');
    await expect.poll(incoming).toHaveLength(1);
    const second = put(url, 'second');
    const third = put(url, 'third.');
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(incoming()).toHaveLength(1);
    first.write('st.');
    expect(await answerOf(first)).toContain('HTTP/1.1 200 ');
    expect([(await second).status, (await third).status]).toEqual([200, 200]);
    await expect.poll(() => disk.blobFiles()).toEqual([(await row(id))?.digest]);
  });

  it('of an open upload are no orphans', async () => {
    const { url } = await disk.openUpload({ size: 5 });
    await put(url, 'hello');
    await disk.project.blobs.sweep(isReferenced, Date.now() + 7_200_000);
    expect(disk.blobFiles()).toEqual([hash('sha256', 'hello')]);
  });
});

/** The headers that a refused PUT is told of. */
const refusedHeaders = async (answer: Promise<Answer>) => {
  const { status, body } = await answer;
  expect(status).toBe(400);
  expect(body.error?.code).toBe('VALIDATION_FAILED');
  return body.error?.details?.fields.map(({ path }) => path);
};

describe('a PUT', () => {
  it('to an unknown or malformed token is not found', async () => {
    const { url } = await disk.openUpload({ size: 5 });
    const token = new URL(url).pathname.slice(3);
    const others = [`${token.slice(0, -1)}-`, `${token.slice(0, 16)}${'A'.repeat(24)}`, 'x'];
    for (const other of others) {
      const answer = await put(`${gateway.url}/u/${other}`, 'hello');
      expect(answer).toMatchObject({ status: 404, body: { error: { code: 'NOT_FOUND' } } });
    }
  });

  it('is too late when the upload expires', async () => {
    const { url } = await disk.openUpload({ size: 5, ms: 1000 });
    clock.advance(999);
    expect((await put(url, 'hello')).status).toBe(200);
    clock.advance(1);
    expect((await put(url, 'hello')).status).toBe(404);
  });

  it.each(['GET', 'HEAD', 'POST', 'DELETE', 'PATCH'])('is not a %s', async (method) => {
    const { url } = await disk.openUpload({ size: 5 });
    const response = await fetch(url, { method });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('PUT');
  });

  it('has the length and the type that were declared', async () => {
    const { id, url } = await disk.openUpload({ size: 5 });
    expect(await refusedHeaders(put(url, 'hell'))).toEqual(['Content-Length']);
    expect(await refusedHeaders(put(url, 'hello!'))).toEqual(['Content-Length']);
    expect(await refusedHeaders(put(url, 'hello', { 'content-type': 'text/html' }))).toEqual([
      'Content-Type',
    ]);
    expect(await refusedHeaders(put(url, '', { 'content-type': 'text/html' }))).toEqual([
      'Content-Length',
      'Content-Type',
    ]);
    expect((await row(id))?.digest).toBeNull();
    expect(disk.blobFiles()).toEqual([]);
  });

  it('says its length', async () => {
    const { url } = await disk.openUpload({ size: 5 });
    const head = ['PUT {path} HTTP/1.1', 'Content-Type: text/plain', 'Transfer-Encoding: chunked'];
    const answer = await rawRequest(url, head, [Buffer.from('5\r\nhello\r\n0\r\n\r\n')]);
    expect(answer.status).toBe(400);
    expect(answer.text).toContain('Content-Length');
  });

  it('with a body larger than it may be is refused and read by nobody', async () => {
    const { url } = await disk.openUpload({ size: 5 });
    const answer = await put(url, new Uint8Array(100 * MIB)).catch(() => ({ status: 400 }));
    expect(answer.status).toBe(400);
    expect(disk.blobFiles()).toEqual([]);
  });

  it('brings no more than it said, whatever comes after', async () => {
    const { id, url } = await disk.openUpload({ size: 5 });
    const socket = await begin(url, 5, 'hello and more');
    expect(await answerOf(socket)).toMatch(/^HTTP\/1\.1 (?:200|400) /);
    await expect.poll(incoming).toEqual([]);
    expect([null, hash('sha256', 'hello')]).toContain((await row(id))?.digest);
  });

  it('is not compressed', async () => {
    const { url } = await disk.openUpload({ size: 5 });
    const answer = await put(url, 'hello', { 'content-encoding': 'gzip' });
    expect(answer).toMatchObject({ status: 415 });
  });
});

describe('a sender that leaves', () => {
  it('leaves nothing behind', async () => {
    const { id, url } = await disk.openUpload({ size: MIB });
    const socket = await begin(url, MIB, randomBytes(MIB / 2));
    await expect.poll(incoming).toHaveLength(1);
    socket.destroy();
    await expect.poll(() => disk.blobFiles()).toEqual([]);
    expect((await row(id))?.digest).toBeNull();
  });

  it('politely, in the middle of the body, as well', async () => {
    const { id, url } = await disk.openUpload({ size: 6 });
    const socket = await begin(url, 6, 'one');
    await expect.poll(incoming).toHaveLength(1);
    socket.end();
    expect(await answerOf(socket)).not.toContain(' 200 ');
    await expect.poll(() => disk.blobFiles()).toEqual([]);
    expect((await row(id))?.digest).toBeNull();
  });

  it('before its turn, holds up nobody', async () => {
    const { id, url } = await disk.openUpload({ size: 6 });
    const first = await begin(url, 6, 'fir');
    await expect.poll(incoming).toHaveLength(1);
    const second = await begin(url, 6, 'sec');
    await new Promise((resolve) => setTimeout(resolve, 50));
    second.destroy();
    await new Promise((resolve) => setTimeout(resolve, 50));
    const third = put(url, 'third.');
    first.end('st.');
    expect((await third).status).toBe(200);
    expect((await row(id))?.digest).toBe(hash('sha256', 'third.'));
    await expect.poll(() => disk.blobFiles()).toEqual([hash('sha256', 'third.')]);
  });
});

describe('an upload that goes while its bytes come', () => {
  it('dropped by others, is not found, and neither are the bytes', async () => {
    const { id, url } = await disk.openUpload({ size: 6 });
    const socket = await begin(url, 6, 'one');
    await expect.poll(incoming).toHaveLength(1);
    await disk.write((store) => store.uploads.delete(id));
    socket.write('two');
    expect(await answerOf(socket)).toContain('HTTP/1.1 404 ');
    await expect.poll(() => disk.blobFiles()).toEqual([]);
    expect(await isReferenced(hash('sha256', 'onetwo'))).toBe(false);
  });

  it('completed by others, keeps the bytes it was completed with', async () => {
    const { id, url } = await disk.openUpload({ size: 6 });
    await put(url, 'onetwo');
    const same = await begin(url, 6, 'one');
    await expect.poll(incoming).toHaveLength(1);
    await disk.complete(id);
    same.write('two');
    expect(await answerOf(same)).toContain('HTTP/1.1 404 ');
    expect(disk.blobFiles()).toEqual([hash('sha256', 'onetwo')]);
  });

  it('expired, ends the sending at the next bytes', async () => {
    const { url } = await disk.openUpload({ size: 6, ms: 1000 });
    const socket = await begin(url, 6, 'o');
    await expect.poll(incoming).toHaveLength(1);
    clock.advance(1000);
    socket.write('n');
    expect(await answerOf(socket)).toContain('HTTP/1.1 404 ');
    expect(disk.blobFiles()).toEqual([]);
    await maintain(disk.project, clock);
    expect(await disk.read((store) => store.disk.use())).toMatchObject({ uploadBytes: 0 });
  });
});
