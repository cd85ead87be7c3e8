import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { TestGateway } from '../../../helpers/gateway.ts';
import { PlainBucket } from '../../../helpers/plain-bucket.ts';
import { placeOf } from './places.ts';
import { WebVisitor } from './web-visitor.ts';

let bucket: PlainBucket;
let gateway: TestGateway;
let visitor: WebVisitor;

beforeAll(async () => {
  bucket = await PlainBucket.start();
  gateway = await TestGateway.start({ blobs: bucket.place });
  visitor = await WebVisitor.withKey(gateway);
});
afterAll(async () => {
  await gateway.stop();
  await bucket.stop();
});

async function put(path: string, type: string, bytes: Buffer): Promise<void> {
  const { status } = await fetch(`${gateway.url}/v1/files/${path}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${gateway.apiKey}`, 'content-type': type },
    body: new Uint8Array(bytes),
  });
  expect(status).toBe(200);
}

/** The page of a file: its picture, the link to download it, and where its pictures may come from. */
async function pageOf(path: string) {
  const files = await placeOf(gateway, 'disk', 'files');
  const { html, headers } = await visitor.get(`${files}?path=${path}`);
  const csp = headers.get('content-security-policy') ?? '';
  return {
    src: /<img[^>]* src="([^"]+)"/.exec(html)?.[1] ?? '',
    download: /href="([^"]+\/d\/[^"]+)"/.exec(html)?.[1] ?? '',
    pictures: /img-src ([^;]*);/.exec(csp)?.[1],
  };
}

const sentBytes = async (): Promise<number> => {
  const { body } = await gateway.call<{ transfer: { used_bytes: number } }>('GET', '/v1/usage');
  return body.transfer.used_bytes;
};

it('shows a picture that a bucket keeps, through the gateway', async () => {
  const bytes = randomBytes(900_000);
  await put('a.png', 'image/png', bytes);
  const { src, download, pictures } = await pageOf('a.png');
  expect(pictures).toBe(`${gateway.url}/ui/icon.png ${gateway.url}/d/`);
  const picture = await fetch(src, { redirect: 'manual' });
  expect(picture.status).toBe(200);
  expect(Object.fromEntries(picture.headers)).toMatchObject({
    'content-type': 'image/png',
    'content-length': '900000',
    'content-disposition': expect.stringMatching(/^attachment;/) as string,
    'content-security-policy': expect.stringMatching(/^sandbox;/) as string,
    'x-content-type-options': 'nosniff',
  });
  expect(Buffer.from(await picture.arrayBuffer()).equals(bytes)).toBe(true);
  // A download comes straight from the bucket, as before.
  const file = await fetch(download, { redirect: 'manual' });
  expect([file.status, file.headers.get('location')]).toEqual([
    302,
    expect.stringContaining(bucket.place.endpoint.host),
  ]);
  const forged = src.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
  expect((await fetch(forged)).status).toBe(404);
});

it('counts what was sent', async () => {
  await put('b.png', 'image/png', randomBytes(1_000_000));
  const { src } = await pageOf('b.png');
  // An open download reserves what it may send, and gives the rest back a moment after its end.
  await expect.poll(sentBytes).toBeLessThan(16 * 1024 * 1024);
  const before = await sentBytes();
  await (await fetch(src)).arrayBuffer();
  await expect.poll(sentBytes).toBe(before + 1_000_000);
  await put('c.png', 'image/png', Buffer.alloc(0));
  const empty = await fetch((await pageOf('c.png')).src);
  expect([empty.status, (await empty.arrayBuffer()).byteLength]).toEqual([200, 0]);
});

it('shows no picture that is gone', async () => {
  await put('d.png', 'image/png', randomBytes(100));
  const { src } = await pageOf('d.png');
  await gateway.call('DELETE', '/v1/files/d.png');
  expect((await fetch(src)).status).toBe(404);
});
