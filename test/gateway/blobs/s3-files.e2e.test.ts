import { hash, randomBytes } from 'node:crypto';
import { get, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { S3Client } from '../../../gateway/blobs/s3-client.ts';
import { FakeClock, TestGateway } from '../../helpers/gateway.ts';
import { hasSwift, Swift } from '../../helpers/swift.ts';
import { placeOf } from '../web/inbox/places.ts';
import { WebVisitor } from '../web/inbox/web-visitor.ts';

const TYPE = 'text/plain; charset=utf-8';
const UPLOAD_TYPE = 'application/vnd.service.upload+json';
const LARGE = 1_500_000;

type Json = Record<string, unknown>;

async function send(upload: Json, bytes: Uint8Array<ArrayBuffer>): Promise<number> {
  const headers = upload['upload_headers'] as Record<string, string>;
  const url = String(upload['upload_url']);
  return (await fetch(url, { method: 'PUT', headers, body: bytes })).status;
}

/** Bytes in buffers that somebody still holds. */
function heldBytes(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().arrayBuffers;
}

describe.skipIf(!hasSwift())('files of a project in a bucket', () => {
  let swift: Swift;
  let gateway: TestGateway;
  let client: S3Client;
  beforeAll(async () => {
    swift = await Swift.start();
  });
  afterAll(() => swift.end());
  beforeEach(async () => {
    // Signed addresses go by the time of the bucket.
    const clock = new FakeClock(Date.now());
    gateway = await TestGateway.start({ clock, blobs: swift.place });
    client = new S3Client(swift.place);
  });
  afterEach(async () => {
    await gateway.stop();
    client.close();
  });

  async function keys(): Promise<string[]> {
    const prefix = `projects/${gateway.projectId}/`;
    const found: string[] = [];
    for await (const { key } of client.list(prefix)) found.push(key.slice(prefix.length));
    return found.toSorted();
  }

  const file = (path: string, body?: unknown) =>
    gateway.call<Json>(body === undefined ? 'GET' : 'PUT', `/v1/files/${path}`, {
      ...(body !== undefined && { body, headers: { 'content-type': UPLOAD_TYPE } }),
    });

  async function open(path: string, size: number): Promise<Json> {
    return (await file(path, { upload: { size, content_type: TYPE } })).body;
  }

  it('that are small go through the gateway, and are objects named by their digest', async () => {
    const bytes = Buffer.from('small');
    const saved = await file('a/small', { content_base64: bytes.toString('base64') });
    expect(saved.status).toBe(200);
    expect(await keys()).toEqual([`blobs/${hash('sha256', bytes)}`]);
    const read = await file('a/small');
    expect(read.body['content_base64']).toBe(bytes.toString('base64'));
    await gateway.call('DELETE', '/v1/files/a/small');
    await expect.poll(keys).toEqual([]);
  });

  it('that are large go to the bucket and come from it, past the gateway', async () => {
    const bytes = new Uint8Array(randomBytes(LARGE));
    const upload = await open('large.txt', LARGE);
    expect(String(upload['upload_url'])).toContain(swift.place.endpoint.host);
    const early = await file('large.txt', { complete: upload['upload_id'] });
    expect(early.body).toMatchObject({ error: { code: 'UPLOAD_INCOMPLETE' } });
    expect(await send(upload, bytes)).toBe(200);
    const saved = await file('large.txt', { complete: upload['upload_id'] });
    expect(saved.body).toMatchObject({ size_bytes: LARGE, sha256: hash('sha256', bytes) });
    expect(await keys()).toEqual([`blobs/${hash('sha256', bytes)}`]);
    const { body } = await file('large.txt');
    const link = String(body['download_url']);
    const hop = await fetch(link, { redirect: 'manual' });
    expect(hop.status).toBe(302);
    expect(hop.headers.get('location')).toContain(swift.place.endpoint.host);
    const answer = await fetch(link);
    expect(answer.headers.get('content-disposition')).toContain('attachment');
    expect(answer.headers.get('content-type')).toBe(TYPE);
    expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).toBe(true);
    const part = await fetch(link, { headers: { range: 'bytes=10-19' } });
    expect([part.status, Buffer.from(await part.arrayBuffer())]).toEqual([
      206,
      Buffer.from(bytes.subarray(10, 20)),
    ]);
    const usage = await gateway.call<{ transfer: { used_bytes: number } }>('GET', '/v1/usage');
    expect(usage.body.transfer.used_bytes).toBe(2 * LARGE + 10);
  });

  it('that are pictures come through the gateway for a page, piece by piece', async () => {
    const size = 12_000_000;
    const bytes = new Uint8Array(randomBytes(size));
    const declared = { upload: { size, content_type: 'image/png' } };
    const upload = (await file('a.png', declared)).body;
    expect(await send(upload, bytes)).toBe(200);
    await file('a.png', { complete: upload['upload_id'] });
    const visitor = await WebVisitor.withKey(gateway);
    const place = await placeOf(gateway, 'disk', 'files');
    const { html } = await visitor.get(`${place}?path=a.png`);
    const src = /<img[^>]* src="([^"]+)"/.exec(html)?.[1] ?? '';
    const before = heldBytes();
    const readers = await Promise.all(
      Array.from({ length: 8 }, () => new Promise<IncomingMessage>((resolve) => get(src, resolve))),
    );
    await sleep(1000);
    // Eight readers that take nothing would hold 96 MB if the gateway read ahead.
    expect(heldBytes() - before).toBeLessThan(size);
    const [reader, ...others] = readers;
    for (const other of others) other.destroy();
    if (!reader) throw new Error('There are eight.');
    expect(reader.statusCode).toBe(200);
    expect(hash('sha256', await buffer(reader))).toBe(hash('sha256', bytes));
  });

  it('are not lost when completing them is refused', async () => {
    const bytes = new Uint8Array(randomBytes(LARGE));
    const upload = await open('kept', LARGE);
    expect(await send(upload, bytes)).toBe(200);
    const complete = { complete: upload['upload_id'] };
    const refused = await file('kept', { ...complete, if_version: 99 });
    expect(refused.body).toMatchObject({ error: { code: 'PRECONDITION_FAILED' } });
    expect((await file('kept', complete)).body).toMatchObject({ sha256: hash('sha256', bytes) });
  });

  it('become one version when they are completed twice at once', async () => {
    const bytes = new Uint8Array(randomBytes(LARGE));
    const upload = await open('once', LARGE);
    await send(upload, bytes);
    const complete = { complete: upload['upload_id'] };
    const answers = await Promise.all([file('once', complete), file('once', complete)]);
    expect(answers).toMatchObject([1, 2].map(() => ({ status: 200, body: { version: 1 } })));
  });

  it('take no other length than was declared', async () => {
    const upload = await open('short', LARGE);
    const headers = { 'Content-Type': TYPE };
    const url = String(upload['upload_url']);
    expect((await fetch(url, { method: 'PUT', headers, body: 'short' })).status).toBe(403);
  });
});
