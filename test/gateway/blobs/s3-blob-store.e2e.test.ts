import { hash } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { buffer, text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { BlobSizeError } from '../../../gateway/lib/durable-files.ts';
import { isMissing } from '../../../gateway/blobs/blob-store.ts';
import type { S3Config } from '../../../gateway/blobs/blobs-config.ts';
import { S3BlobStore } from '../../../gateway/blobs/s3-blob-store.ts';
import { S3Client } from '../../../gateway/blobs/s3-client.ts';
import { hasSwift, Swift } from '../../helpers/swift.ts';

const MIB = 1024 * 1024;
const HOURS_2 = 7_200_000;
const UPLOAD = 'upl_01j9z3k4m5n6p7q8r9s0t1v2w3';

const unreferenced = (): Promise<boolean> => Promise.resolve(false);

async function* chunks(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const one of texts) yield Buffer.from(one);
}

async function* failing(): AsyncGenerator<Uint8Array> {
  yield* chunks('12', '34');
  throw new Error('gone');
}

describe.skipIf(!hasSwift())('blobs in a bucket', () => {
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

  const withPlace = (other: Partial<S3Config>) =>
    new S3BlobStore(new S3Client({ ...place, ...other }), project);

  describe('a blob', () => {
    it('is stored under its digest, and read', async () => {
      const { digest } = await blobs.put(Buffer.from('0123456789'));
      expect(digest).toBe(hash('sha256', '0123456789'));
      expect(await keys()).toEqual([`blobs/${digest}`]);
      expect(Buffer.from(await blobs.read(digest)).toString()).toBe('0123456789');
      expect(await text(await blobs.open(digest))).toBe('0123456789');
    });

    it('may be empty', async () => {
      const { digest } = await blobs.put(new Uint8Array());
      expect(await blobs.read(digest)).toHaveLength(0);
      expect(await buffer(await blobs.open(digest))).toHaveLength(0);
    });

    it('that is stored already is not sent again', async () => {
      const { digest } = await blobs.put(Buffer.from('the same bytes'));
      const put = vi.spyOn(client, 'put');
      await blobs.put(Buffer.from('the same bytes'), digest);
      expect(put).not.toHaveBeenCalled();
    });

    it('is sent again when its object is of another size', async () => {
      const bytes = Buffer.from('the same bytes');
      const digest = hash('sha256', bytes);
      const key = `projects/${project}/blobs/${digest}`;
      await client.put(key, Buffer.from('old'), hash('sha256', 'old'));
      await blobs.put(bytes, digest);
      expect(Buffer.from(await blobs.read(digest))).toEqual(bytes);
    });

    it('is not stored under the digest of other bytes', async () => {
      const digest = hash('sha256', 'other');
      await expect(blobs.put(Buffer.from('these'), digest)).rejects.toMatchObject({
        code: 'UNAVAILABLE',
      });
      expect(await keys()).toEqual([]);
    });

    it('that is not there is missing, as a file is', async () => {
      const digest = hash('sha256', 'never');
      await expect(blobs.read(digest)).rejects.toSatisfy(isMissing);
      await expect(blobs.open(digest)).rejects.toSatisfy(isMissing);
      await expect(blobs.read('../../other')).rejects.toSatisfy(isMissing);
    });

    it('lets go of its connection when nobody reads it to the end', async () => {
      const { digest } = await blobs.put(Buffer.alloc(8 * MIB, 'x'));
      for (let turn = 0; turn < 5; turn += 1) (await blobs.open(digest)).destroy();
      expect(await blobs.read(digest)).toHaveLength(8 * MIB);
    });
  });

  describe('bytes that come in chunks', () => {
    it('are stored under their digest, and pinned', async () => {
      const { digest, release } = await blobs.putStream(chunks('one ', '', 'two'), 7);
      expect(digest).toBe(hash('sha256', 'one two'));
      await blobs.remove(digest, unreferenced);
      expect(await keys()).toEqual([`blobs/${digest}`]);
      release();
      await blobs.remove(digest, unreferenced);
      expect(await keys()).toEqual([]);
    });

    it('may be none', async () => {
      const { digest } = await blobs.putStream(chunks(), 0);
      expect(await blobs.read(digest)).toHaveLength(0);
    });

    it.each([
      ['more', ['1234', '5678']],
      ['one chunk more', ['1234', '567', '8']],
      ['fewer', ['123456']],
    ])('are refused when they are %s than announced', async (_what, texts) => {
      await expect(blobs.putStream(chunks(...texts), 7)).rejects.toBeInstanceOf(BlobSizeError);
      expect(await keys()).toEqual([]);
    });

    it('leave nothing when their sender fails', async () => {
      await expect(blobs.putStream(failing(), 7)).rejects.toThrow('gone');
      expect(await keys()).toEqual([]);
    });

    it('are no blob before the last has come, however long that takes', async () => {
      const impatient = new S3BlobStore(new S3Client(place, { silenceMs: 2000 }), project);
      const rest = new EventEmitter();
      async function* slow(): AsyncGenerator<Uint8Array> {
        yield* chunks('1', '234');
        await once(rest, 'come');
        yield* chunks('56', '7');
      }
      const stored = impatient.putStream(slow(), 7);
      await sleep(3000);
      expect(await keys()).toEqual([]);
      rest.emit('come');
      const { digest } = await stored;
      expect(await keys()).toEqual([`blobs/${digest}`]);
    });
  });

  describe('removal', () => {
    it('leaves a blob that is pinned or named', async () => {
      const { digest, release } = await blobs.put(Buffer.from('bytes'));
      await blobs.remove(digest, unreferenced);
      release();
      await blobs.remove(digest, () => Promise.resolve(true));
      expect(await keys()).toEqual([`blobs/${digest}`]);
      await blobs.remove(digest, unreferenced);
      expect(await keys()).toEqual([]);
      await blobs.remove(digest, unreferenced);
    });

    it('of what is put again meanwhile does not take it', async () => {
      const bytes = Buffer.from('the same bytes');
      const first = await blobs.put(bytes);
      first.release();
      const real = client.delete.bind(client);
      vi.spyOn(client, 'delete').mockImplementationOnce(async (key) => {
        await sleep(200);
        await real(key);
      });
      const removal = blobs.remove(first.digest, unreferenced);
      await sleep(50);
      const again = await blobs.put(bytes);
      await removal;
      expect(Buffer.from(await blobs.read(again.digest))).toEqual(bytes);
    });
  });

  describe('a sweep', () => {
    const put = (key: string) => client.put(`projects/${project}/${key}`, Buffer.from('x'), X);
    const X = hash('sha256', 'x');

    it('deletes what nobody names, over several pages, and nothing else', async () => {
      const named = await blobs.put(Buffer.from('named'));
      const pinned = await blobs.put(Buffer.from('pinned'));
      named.release();
      for (let one = 0; one < 9; one += 1) await put(`blobs/${hash('sha256', `orphan ${one}`)}`);
      await put('incoming/a');
      await put(`uploads/${UPLOAD}`);
      await put('blobs/not-ours');
      await put('notes.txt');
      const before = await keys();
      expect(before).toHaveLength(15);
      const isReferenced = (digest: string) => Promise.resolve(digest === named.digest);
      await blobs.sweep(isReferenced, Date.now());
      expect(await keys()).toEqual(before);
      await blobs.sweep(isReferenced, Date.now() + HOURS_2);
      const left = [
        `blobs/${named.digest}`,
        `blobs/${pinned.digest}`,
        'blobs/not-ours',
        'notes.txt',
      ];
      expect((await keys()).toSorted()).toEqual(left.toSorted());
    });

    it('ends when it is told to', async () => {
      await put('incoming/a');
      await blobs.sweep(unreferenced, Date.now() + HOURS_2, AbortSignal.abort());
      expect(await keys()).toEqual(['incoming/a']);
    });
  });

  describe('projects in one bucket', () => {
    it('do not see each other', async () => {
      const other = new S3BlobStore(client, `${project}0`);
      const { digest, release } = await blobs.put(Buffer.from('mine'));
      release();
      const theirs = `projects/${project}/uploads/${UPLOAD}`;
      await client.put(theirs, Buffer.from('mine too'), hash('sha256', 'mine too'));
      await expect(other.read(digest)).rejects.toSatisfy(isMissing);
      expect(await other.headUpload(UPLOAD)).toBeNull();
      await other.remove(digest, unreferenced);
      await other.dropUpload(UPLOAD);
      await other.sweep(unreferenced, Date.now() + HOURS_2);
      expect(await keys()).toEqual([`blobs/${digest}`, `uploads/${UPLOAD}`]);
    });
  });

  describe('a bucket', () => {
    it('that refuses the secret is UNAVAILABLE, and tells no secret', async () => {
      const secretAccessKey = 'another-secret';
      const credentials = { ...place.credentials, secretAccessKey };
      const error: unknown = await withPlace({ credentials })
        .put(Buffer.from('bytes'))
        .catch((one: unknown) => one);
      expect(error).toMatchObject({ code: 'UNAVAILABLE', cause: { status: 403 } });
      expect(String((error as Error).cause)).not.toContain(secretAccessKey);
      const read = withPlace({ credentials }).read(hash('sha256', 'bytes'));
      await expect(read).rejects.toMatchObject({ cause: { code: 'SignatureDoesNotMatch' } });
    });

    it('that does not exist is UNAVAILABLE, and no blob is missing in it', async () => {
      const read = withPlace({ bucket: 'no-such-bucket' }).read(hash('sha256', 'bytes'));
      await expect(read).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    });

    it('that is down is UNAVAILABLE', async () => {
      const down = withPlace({ endpoint: new URL('http://127.0.0.1:1') });
      await expect(down.put(Buffer.from('bytes'))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
      await expect(down.putStream(chunks('bytes'), 5)).rejects.toMatchObject({
        code: 'UNAVAILABLE',
      });
      await expect(down.open(hash('sha256', 'bytes'))).rejects.toMatchObject({
        code: 'UNAVAILABLE',
      });
    });
  });
});
