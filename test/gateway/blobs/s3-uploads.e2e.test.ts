import { spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { BlobSizeError } from '../../../gateway/lib/durable-files.ts';
import { isMissing } from '../../../gateway/blobs/blob-store.ts';
import type { S3Config } from '../../../gateway/blobs/blobs-config.ts';
import { S3BlobStore } from '../../../gateway/blobs/s3-blob-store.ts';
import { S3Client } from '../../../gateway/blobs/s3-client.ts';
import { hasSwift, Swift } from '../../helpers/swift.ts';

const MIB = 1024 * 1024;
const UPLOAD = 'upl_01j9z3k4m5n6p7q8r9s0t1v2w3';
const OTHER_UPLOAD = 'upl_01j9z3k4m5n6p7q8r9s0t1v2w4';
const TYPE = 'text/plain; charset=utf-8';

const unreferenced = (): Promise<boolean> => Promise.resolve(false);

describe.skipIf(!hasSwift())('files sent straight to a bucket and from it', () => {
  let swift: Swift;
  let place: S3Config;
  beforeAll(async () => {
    swift = await Swift.start();
    ({ place } = swift);
  });
  afterAll(() => swift.end());

  let client: S3Client;
  let project: string;
  let blobs: S3BlobStore;
  let count = 0;
  beforeEach(() => {
    client = new S3Client(place);
    project = `prj_${(count += 1)}`;
    blobs = new S3BlobStore(client, project);
  });
  afterEach(() => {
    client.close();
    vi.restoreAllMocks();
  });

  async function keys(of = project): Promise<string[]> {
    const found: string[] = [];
    for await (const { key } of client.list(`projects/${of}/`)) found.push(key);
    return found.map((key) => key.slice(`projects/${of}/`.length));
  }

  /** As a client does it, with what it was told and nothing else. */
  async function upload(bytes: Uint8Array<ArrayBuffer>, id = UPLOAD): Promise<void> {
    const parts = { size: bytes.length, contentType: TYPE, expiresInSeconds: 60 };
    const { url, headers } = await blobs.presignPut(id, parts);
    expect((await fetch(url, { method: 'PUT', headers, body: bytes })).status).toBe(200);
  }

  describe('an address to upload to', () => {
    const bytes = Buffer.from('the bytes of a file');
    const parts = { size: bytes.length, contentType: ` ${TYPE} `, expiresInSeconds: 60 };

    it('takes these bytes with the headers that came with it', async () => {
      const { url, headers } = await blobs.presignPut(UPLOAD, parts);
      expect(headers).toEqual({ 'Content-Type': TYPE, 'Content-Length': String(bytes.length) });
      expect(url).not.toContain(place.credentials.secretAccessKey);
      expect(await blobs.headUpload(UPLOAD)).toBeNull();
      expect((await fetch(url, { method: 'PUT', headers, body: bytes })).status).toBe(200);
      expect(await blobs.headUpload(UPLOAD)).toBe(bytes.length);
    });

    it.each([
      ['another type', { headers: { 'Content-Type': 'text/html' } }],
      ['another length', { body: 'more than the bytes of a file', headers: {} }],
      ['another method', { method: 'DELETE', body: null }],
    ])('refuses %s', async (_what, other) => {
      const { url, headers } = await blobs.presignPut(UPLOAD, parts);
      const { 'Content-Type': type = '' } = headers;
      const init = { method: 'PUT', body: bytes, ...other };
      const sent = { 'Content-Type': type, ...('headers' in other ? other.headers : {}) };
      expect((await fetch(url, { ...init, headers: sent })).status).toBe(403);
      expect(await keys()).toEqual([]);
    });

    it('refuses another path, and a query with more in it', async () => {
      const { url, headers } = await blobs.presignPut(UPLOAD, parts);
      for (const other of [url.replace(UPLOAD, OTHER_UPLOAD), `${url}&more=1`]) {
        expect((await fetch(other, { method: 'PUT', headers, body: bytes })).status).toBe(403);
      }
      expect(await keys()).toEqual([]);
    });

    it('has its time', async () => {
      const { url, headers } = await blobs.presignPut(UPLOAD, { ...parts, expiresInSeconds: 1 });
      await sleep(2500);
      expect((await fetch(url, { method: 'PUT', headers, body: bytes })).status).toBe(403);
      const never = blobs.presignPut(UPLOAD, { ...parts, expiresInSeconds: 604_801 });
      await expect(never).rejects.toThrow(RangeError);
    });
  });

  describe('an address to download from', () => {
    const file = { fileName: 'a/Bücher & "mehr" +1.txt', contentType: TYPE, expiresInSeconds: 60 };

    it('gives the bytes as a file to save, whole or in part', async () => {
      const { digest } = await blobs.put(Buffer.from('0123456789'));
      const url = await blobs.presignGet(digest, file);
      const answer = await fetch(url);
      expect(answer.status).toBe(200);
      expect(await answer.text()).toBe('0123456789');
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'content-type': TYPE,
        'cache-control': 'no-store',
        'content-disposition': `attachment; filename="B_cher & _mehr_ +1.txt"; filename*=UTF-8''B%C3%BCcher%20&%20%22mehr%22%20+1.txt`,
      });
      const part = await fetch(url, { headers: { Range: 'bytes=2-4' } });
      expect(part.status).toBe(206);
      expect(await part.text()).toBe('234');
    });

    it('is for this blob, this name and this method', async () => {
      const { digest } = await blobs.put(Buffer.from('one'));
      const other = await blobs.put(Buffer.from('two'));
      const url = await blobs.presignGet(digest, file);
      const changed = [url.replace(digest, other.digest), url.replace('attachment', 'inline')];
      for (const one of changed) expect((await fetch(one)).status).toBe(403);
      expect((await fetch(url, { method: 'DELETE' })).status).toBe(403);
      expect((await fetch(url)).status).toBe(200);
    });
  });

  describe('an upload', () => {
    it('becomes a blob, pinned, and stays until it is dropped', async () => {
      await upload(Buffer.from('uploaded'));
      const { digest, release } = await blobs.adopt(UPLOAD, 8);
      expect(digest).toBe(hash('sha256', 'uploaded'));
      await blobs.remove(digest, unreferenced);
      expect(await keys()).toEqual([`blobs/${digest}`, `uploads/${UPLOAD}`]);
      expect(Buffer.from(await blobs.read(digest)).toString()).toBe('uploaded');
      await blobs.dropUpload(UPLOAD);
      expect(await keys()).toEqual([`blobs/${digest}`]);
      release();
      await expect(blobs.adopt(UPLOAD, 8)).rejects.toSatisfy(isMissing);
    });

    it('of another size stays what it is', async () => {
      await upload(Buffer.from('uploaded'));
      await expect(blobs.adopt(UPLOAD, 7)).rejects.toBeInstanceOf(BlobSizeError);
      expect(await blobs.headUpload(UPLOAD)).toBe(8);
      await blobs.dropUpload(UPLOAD);
      expect(await keys()).toEqual([]);
    });

    it('is no blob when it is replaced while it is read', async () => {
      await upload(Buffer.from('the first'));
      const real = client.copy.bind(client);
      vi.spyOn(client, 'copy').mockImplementationOnce(async (from, to, etag) => {
        await upload(Buffer.from('the other'));
        await real(from, to, etag);
      });
      await expect(blobs.adopt(UPLOAD, 9)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
      expect(await keys()).toEqual([`uploads/${UPLOAD}`]);
      const { digest } = await blobs.adopt(UPLOAD, 9);
      expect(digest).toBe(hash('sha256', 'the other'));
    });

    it('of 100 MiB never stands in memory', async () => {
      const bytes = Buffer.alloc(100 * MIB, 'svc');
      await upload(bytes);
      const program = `
        import { S3BlobStore } from ${JSON.stringify(resolve('gateway/blobs/s3-blob-store.ts'))};
        import { S3Client } from ${JSON.stringify(resolve('gateway/blobs/s3-client.ts'))};
        const place = JSON.parse(process.env.PLACE, (name, value) =>
          name === 'endpoint' ? new URL(value) : value);
        const blobs = new S3BlobStore(new S3Client(place), ${JSON.stringify(project)});
        (await blobs.put(Buffer.from('once'))).release();
        // What is held, without what only waits to be collected: the first round ends after it has returned.
        const held = () => { gc(); gc(); return process.memoryUsage().arrayBuffers; };
        const before = held();
        let peak = before;
        const timer = setInterval(() => { peak = Math.max(peak, held()); }, 40);
        const { digest } = await blobs.adopt(${JSON.stringify(UPLOAD)}, ${100 * MIB});
        clearInterval(timer);
        console.log(JSON.stringify({ digest, grown: peak - before }));
        process.exit(0);`;
      const child = spawn(
        process.execPath,
        ['--expose-gc', '--import', 'tsx', '--input-type=module', '--eval', program],
        {
          stdio: ['ignore', 'pipe', 'inherit'],
          env: { ...process.env, PLACE: JSON.stringify(place) },
        },
      );
      const { digest, grown } = JSON.parse(await text(child.stdout)) as Record<string, unknown>;
      expect(digest).toBe(hash('sha256', bytes));
      expect(grown).toBeLessThan(16 * MIB);
    });
  });
});
