import { request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestGateway } from '../../helpers/gateway.ts';

interface Raw {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bytes: Buffer;
}

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await TestGateway.start();
});

afterAll(() => gateway.stop());

/** The answer as it came, not unpacked. */
function get(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Raw> {
  return new Promise((resolve, reject) => {
    const sent = request(gateway.url + path, { method, headers }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () => {
        const { statusCode: status = 0 } = answer;
        resolve({ status, headers: answer.headers, bytes: Buffer.concat(chunks) });
      });
    });
    sent.on('error', reject);
    sent.end();
  });
}

describe.each([
  '/v1/openapi.json',
  '/ui/style.css',
  '/ui/script.js',
  '/ui/push.js',
  '/ui/manifest.webmanifest',
])('%s', (path) => {
  it('comes compressed to those who can read it', async () => {
    const plain = await get(path);
    const br = await get(path, { 'accept-encoding': 'gzip, deflate, br' });
    const gzip = await get(path, { 'accept-encoding': 'gzip;q=0.8, br;q=0' });
    expect([plain, br, gzip].map(({ headers }) => headers['content-encoding'])).toEqual([
      undefined,
      'br',
      'gzip',
    ]);
    expect(brotliDecompressSync(br.bytes)).toEqual(plain.bytes);
    expect(gunzipSync(gzip.bytes)).toEqual(plain.bytes);
    expect([plain, br, gzip].map(({ headers }) => headers['vary'])).toEqual(
      Array(3).fill('Accept-Encoding'),
    );
    expect(new Set([plain, br, gzip].map(({ headers }) => headers['etag'])).size).toBe(3);
  });

  it.each(['identity', 'br', 'gzip'])(
    'isn’t sent again to those who have it as %s',
    async (coding) => {
      const accepting = { 'accept-encoding': coding };
      const { headers } = await get(path, accepting);
      const etag = String(headers['etag']);
      const again = await get(path, { ...accepting, 'if-none-match': `W/"other", ${etag}` });
      expect([again.status, again.bytes.length, again.headers['etag']]).toEqual([304, 0, etag]);
      const other = await get(path, { ...accepting, 'if-none-match': '"other"' });
      expect(other.status).toBe(200);
    },
  );

  it('has the same headers for HEAD', async () => {
    const { status, headers, bytes } = await get(path, {}, 'HEAD');
    expect([status, bytes.length]).toEqual([200, 0]);
    expect(headers['etag']).toBe((await get(path)).headers['etag']);
  });
});
