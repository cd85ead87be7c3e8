import type { RequestListener } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { downloadFrom, uploadTo } from '../../../cli/disk/http-transfer.ts';
import { listenHttp } from '../tools/fakes.ts';

const MB = 1024 * 1024;
const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function listening(handle: RequestListener): Promise<string> {
  const server = await listenHttp(handle);
  closers.push(server.close);
  return `${server.url}/u/1`;
}

async function* zeros(count: number) {
  for (let sent = 0; sent < count; sent += 1) yield await Promise.resolve(Buffer.alloc(MB));
}

async function* broken() {
  yield* zeros(2);
  throw new Error('The source is gone.');
}

async function upload(url: string, chunks: AsyncIterable<Uint8Array> = zeros(20)) {
  const { signal } = new AbortController();
  await uploadTo({ url, headers: { 'content-type': 'a/b' }, sizeBytes: 20 * MB, chunks, signal });
}

describe('an upload', () => {
  it('is told apart from one that breaks off', async () => {
    const url = await listening((request) => {
      request.once('data', () => request.destroy());
    });
    await expect(upload(url)).rejects.toMatchObject({ code: 'TRANSFER_BROKEN', exit: 7 });
  });

  it('hears a refusal that comes before everything was sent', async () => {
    const url = await listening((_, response) => {
      response.writeHead(409, { 'content-type': 'application/json' });
      response.end('{"error":{"code":"QUOTA_EXCEEDED","message":"Full.","hint":"Delete files."}}');
    });
    await expect(upload(url)).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED', status: 409 });
  });

  it('shows a refusal of a store that has other errors', async () => {
    const url = await listening((request, response) => {
      request.resume().on('end', () => response.writeHead(403).end('<Error/>'));
    });
    await expect(upload(url)).rejects.toMatchObject({ code: 'HTTP_403' });
  });

  it('fails as its source fails', async () => {
    let received = 0;
    const url = await listening((request, response) => {
      request.on('data', (chunk: Buffer) => (received += chunk.length));
      request.on('end', () => response.end());
    });
    await expect(upload(url, broken())).rejects.toThrow('The source is gone.');
    expect(received).toBeLessThan(20 * MB);
  });

  it.each(['ftp://127.0.0.1/x', 'file:///etc/passwd', 'nonsense'])(
    'goes not to %s',
    async (url) => {
      await expect(upload(url)).rejects.toMatchObject({ code: 'ANSWER_INVALID' });
    },
  );

  it('says when nobody is there', async () => {
    await expect(upload('http://127.0.0.1:1/u/1')).rejects.toMatchObject({
      code: 'TRANSFER_BROKEN',
      message: expect.stringContaining('ECONNREFUSED'),
    });
  });
});

describe('a download', () => {
  const { signal } = new AbortController();

  it('hears why there is none', async () => {
    const url = await listening((_, response) => {
      response.writeHead(409).end('{"error":{"code":"QUOTA_EXCEEDED","message":"Full."}}');
    });
    await expect(downloadFrom(url, signal).next()).rejects.toMatchObject({
      code: 'QUOTA_EXCEEDED',
    });
  });

  it('follows one redirect, to a store of objects, and no second', async () => {
    const url = await listening((request, response) => {
      if (request.url === '/object') return response.end('bytes');
      const location = request.url === '/again' ? '/again' : '/object';
      return response.writeHead(302, { location }).end();
    });
    const chunks: Uint8Array[] = [];
    for await (const chunk of downloadFrom(url, signal)) chunks.push(chunk);
    expect(Buffer.concat(chunks).toString()).toBe('bytes');
    const again = new URL('/again', url).href;
    await expect(downloadFrom(again, signal).next()).rejects.toMatchObject({ code: 'HTTP_302' });
  });

  it('ends its connection when nobody wants more', async () => {
    let isClosed = false;
    const url = await listening((_, response) => {
      response.on('close', () => (isClosed = true));
      response.write(Buffer.alloc(MB));
    });
    for await (const chunk of downloadFrom(url, signal)) {
      expect(chunk.length).toBeGreaterThan(0);
      break;
    }
    await expect.poll(() => isClosed).toBe(true);
  });
});
