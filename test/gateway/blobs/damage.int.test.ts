import { hash, randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock, TestGateway } from '../../helpers/gateway.ts';
import { TestDisk } from '../../shared/operations/disk.ts';
import { flipBit } from '../../helpers/flipped.ts';
import { PlainBucket } from '../../helpers/plain-bucket.ts';

type Json = Record<string, unknown>;

const INTERNAL = {
  code: 'INTERNAL',
  message: 'Internal error.',
  hint: 'Retry later; quote X-Request-Id.',
};
const UPLOAD_TYPE = 'application/vnd.service.upload+json';

let clock: FakeClock;
let gateway: TestGateway;
let lines: Json[];
beforeEach(async () => {
  lines = [];
  const into = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(JSON.parse(chunk.toString()) as Json);
      done();
    },
  });
  clock = new FakeClock();
  gateway = await TestGateway.start({
    clock,
    log: pino({ level: 'error' }, into),
  });
});
afterEach(() => gateway.stop());

const nameOf = (digest: string): string =>
  join('projects', gateway.projectId, 'blobs', digest.slice(0, 2), digest);
const pathOf = (bytes: Uint8Array): string => join(gateway.folder, nameOf(hash('sha256', bytes)));

const save = (path: string, body: Json) =>
  gateway.call<Json>('PUT', `/v1/files/${path}`, {
    body,
    headers: { 'content-type': UPLOAD_TYPE },
  });

async function put(path: string, bytes: Uint8Array): Promise<void> {
  const saved = await save(path, { content_base64: Buffer.from(bytes).toString('base64') });
  expect(saved.status).toBe(200);
}

/** Stores a file as clients do whose file is large; returns the link to its bytes. */
async function upload(path: string, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  const opened = (await save(path, { upload: { size: bytes.length, content_type: 'text/plain' } }))
    .body;
  const headers = opened['upload_headers'] as Record<string, string>;
  const sent = await fetch(String(opened['upload_url']), { method: 'PUT', headers, body: bytes });
  expect(sent.status).toBe(200);
  expect((await save(path, { complete: opened['upload_id'] })).status).toBe(200);
}

async function linkTo(path: string): Promise<string> {
  const { body } = await gateway.call<Json>('GET', `/v1/files/${path}`);
  const disk = await TestDisk.of(gateway, () => clock.now());
  return disk.addLink(path, Number(body['version']));
}

/** The bytes of a whole answer; null if it broke off. */
async function wholeOf(url: string, headers: Record<string, string> = {}): Promise<Buffer | null> {
  const response = await fetch(url, { headers });
  expect([200, 206]).toContain(response.status);
  return response.arrayBuffer().then(
    (bytes) => Buffer.from(bytes),
    () => null,
  );
}

function expectReported(bytes: Uint8Array): void {
  const file = nameOf(hash('sha256', bytes));
  const project = gateway.projectId;
  expect(gateway.gateway.damage).toMatchObject([{ project, file, what: 'blob' }]);
  expect(lines.filter((line) => line['file'] === file && line['what'] === 'blob')).not.toEqual([]);
  expect(JSON.stringify(lines)).not.toContain('    at ');
}

describe('a flipped bit in a blob', () => {
  it('is not answered as a file, which is INTERNAL and named in the log', async () => {
    const bytes = randomBytes(3000);
    await put('a.bin', bytes);
    flipBit(pathOf(bytes));
    const answer = await gateway.call('GET', '/v1/files/a.bin');
    expect(answer).toMatchObject({ status: 500, body: { error: INTERNAL } });
    expectReported(bytes);
    await put('b.bin', randomBytes(10));
    expect((await gateway.call('GET', '/v1/files/b.bin')).status).toBe(200);
  });

  it.each([0, 0.5, 1])('breaks a large download before its end, at %s of the file', async (at) => {
    const bytes = new Uint8Array(randomBytes(5_000_000));
    await upload('large.bin', bytes);
    const url = await linkTo('large.bin');
    expect(hash('sha256', (await wholeOf(url)) ?? '')).toBe(hash('sha256', bytes));
    flipBit(pathOf(bytes), at);
    expect(await wholeOf(url)).toBeNull();
    expectReported(bytes);
  });

  it('is not answered by a link to a small file', async () => {
    const bytes = randomBytes(3000);
    await put('a.bin', bytes);
    const url = await linkTo('a.bin');
    flipBit(pathOf(bytes));
    const response = await fetch(url);
    expect(response.status).toBe(500);
    expect(await response.json()).toMatchObject({ error: INTERNAL });
    expectReported(bytes);
  });

  it('is not answered as a range, not even one without it', async () => {
    const bytes = new Uint8Array(randomBytes(3_000_000));
    await upload('large.bin', bytes);
    const url = await linkTo('large.bin');
    const range = { range: 'bytes=10-19' };
    expect(await wholeOf(url, range)).toEqual(Buffer.from(bytes.subarray(10, 20)));
    flipBit(pathOf(bytes));
    expect((await fetch(url, { headers: range })).status).toBe(500);
    expectReported(bytes);
  });

  it('is not answered as a payload', async () => {
    const url = await gateway.addSource({ name: 'open' });
    const body = Buffer.from(JSON.stringify({ fill: 'x'.repeat(300 * 1024) }));
    const { body: taken } = await gateway.deliver(url, new Uint8Array(body), {
      'content-type': 'application/json',
    });
    const claimed = await gateway.call<Json>('POST', '/v1/inbox/claim', {
      body: { event_id: taken['event_id'] },
    });
    flipBit(pathOf(body));
    expect((await fetch(String(claimed.body['payload_url']))).status).toBe(500);
    expectReported(body);
  });

  it('is mended by storing the same bytes again', async () => {
    const bytes = randomBytes(3000);
    await put('a.bin', bytes);
    flipBit(pathOf(bytes));
    await gateway.call('GET', '/v1/files/a.bin');
    await put('b.bin', bytes);
    expect(gateway.gateway.damage).toEqual([]);
    const { body } = await gateway.call<Json>('GET', '/v1/files/a.bin');
    expect(body['content_base64']).toBe(bytes.toString('base64'));
  });

  it('is forgotten with its file', async () => {
    const bytes = randomBytes(3000);
    await put('a.bin', bytes);
    flipBit(pathOf(bytes));
    await gateway.call('GET', '/v1/files/a.bin');
    await gateway.call('DELETE', '/v1/files/a.bin');
    await expect.poll(() => gateway.gateway.damage).toEqual([]);
  });
});

describe('a missing blob', () => {
  it('is INTERNAL with its name in the log, for every reader', async () => {
    const bytes = randomBytes(3000);
    await put('a.bin', bytes);
    const url = await linkTo('a.bin');
    rmSync(pathOf(bytes));
    expect(await gateway.call('GET', '/v1/files/a.bin')).toMatchObject({
      status: 500,
      body: { error: INTERNAL },
    });
    expect((await fetch(url)).status).toBe(500);
    expect((await fetch(url, { method: 'HEAD' })).status).toBe(500);
    expect((await fetch(url, { headers: { range: 'bytes=1-2' } })).status).toBe(500);
    expectReported(bytes);
  });
});

describe('a flipped bit of an object in a bucket', () => {
  let bucket: PlainBucket;
  beforeEach(async () => {
    bucket = await PlainBucket.start();
    await gateway.stop();
    gateway = await TestGateway.start({ clock, blobs: bucket.place });
  });
  afterEach(() => bucket.stop());

  it('gets no link to the bucket, and is not answered', async () => {
    const bytes = randomBytes(3000);
    await put('a.bin', bytes);
    const url = await linkTo('a.bin');
    const statusOf = async (): Promise<number> => (await fetch(url, { redirect: 'manual' })).status;
    expect(await statusOf()).toBe(302);
    const digest = hash('sha256', bytes);
    bucket.damage(digest);
    expect(await statusOf()).toBe(500);
    expect((await gateway.call('GET', '/v1/files/a.bin')).status).toBe(500);
    const file = `s3://bucket/projects/${gateway.projectId}/blobs/${digest}`;
    expect(gateway.gateway.damage).toMatchObject([{ file, what: 'blob' }]);
  });

  it('is mended by storing the same bytes again', async () => {
    const bytes = randomBytes(3000);
    await put('a.bin', bytes);
    bucket.damage(hash('sha256', bytes));
    expect((await gateway.call('GET', '/v1/files/a.bin')).status).toBe(500);
    await put('b.bin', bytes);
    expect((await gateway.call('GET', '/v1/files/a.bin')).status).toBe(200);
    expect(gateway.gateway.damage).toEqual([]);
  });
});
