import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { BucketUploads } from '../../../gateway/blobs/direct-uploads.ts';
import { S3BlobStore } from '../../../gateway/blobs/s3-blob-store.ts';
import { S3Client } from '../../../gateway/blobs/s3-client.ts';
import type { ProjectReader } from '../../../shared/store/project-store.ts';
import type { ProjectWrites } from '../../../gateway/commit/thread/writers.ts';
import { hasSwift, Swift } from '../../helpers/swift.ts';
import { SharedStore, type SharedGateway } from './shared-blobs.ts';

const PROJECT = 'prj_0000000000000001';
const UPLOAD = 'upl_01j9z3k4m5n6p7q8r9s0t1v2w3';
const ERASURE_MS = 1_200_000;
/** So far the clocks of a bucket and of who calls it may be apart: S3's RequestTimeTooSkewed. */
const SKEW_MAX_MS = 900_000;
const UNAVAILABLE = { code: 'UNAVAILABLE' };
const bytes = Buffer.from('the same bytes');
const digest = hash('sha256', bytes);

async function save(by: SharedGateway): Promise<void> {
  const { release } = await by.blobs.put(bytes);
  await by.name(digest, bytes.length);
  release();
  await by.settled();
}

describe.skipIf(!hasSwift())('a bucket that several gateways share', () => {
  let swift: Swift;
  beforeAll(async () => {
    swift = await Swift.start();
  });
  afterAll(() => swift.end());

  let client: S3Client;
  let store: SharedStore;
  let a: SharedGateway;
  let b: SharedGateway;
  beforeEach(async () => {
    client = new S3Client(swift.place);
    store = await SharedStore.open();
    [a, b] = [gateway('a'), gateway('b')];
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    for await (const { key } of client.list('')) await client.delete(key);
    client.close();
    await store.close();
  });

  function gateway(name: string): SharedGateway {
    return store.gateway(name, (onFree, pins) => new S3BlobStore(client, PROJECT, onFree, pins));
  }

  /** The bytes of an open upload, as its client has put them there. */
  async function send(): Promise<void> {
    const upload = {
      id: UPLOAD,
      path: 'a',
      content_type: 'text/plain',
      digest: null,
      key_id: null,
    };
    const expires_at = store.clock.now() + 60_000;
    await a.write((one) =>
      one.uploads.insert({ ...upload, size_bytes: bytes.length, expires_at }, 'hash'),
    );
    await client.put(`projects/${PROJECT}/uploads/${UPLOAD}`, bytes, digest);
  }

  function collects(by: SharedGateway): BucketUploads {
    const sides = {
      store: store as unknown as ProjectReader,
      writes: by as unknown as ProjectWrites,
    };
    return new BucketUploads(sides, by.blobs as S3BlobStore, store.clock);
  }

  async function keys(): Promise<string[]> {
    const found: string[] = [];
    for await (const { key } of client.list(`projects/${PROJECT}/`)) found.push(key);
    return found.map((key) => key.slice(`projects/${PROJECT}/`.length));
  }

  describe('a deletion that is signed before', () => {
    it('is done within its time, also where there is nothing', async () => {
      await client.put('key', bytes, digest);
      const deletion = await client.deletion('key', 60);
      expect(await client.head('key')).toBe(bytes.length);
      await deletion();
      expect(await client.head('key')).toBeNull();
      await deletion();
    });

    it('is refused after its time', async () => {
      await client.put('key', bytes, digest);
      const deletion = await client.deletion('key', 1);
      await sleep(2100);
      await expect(deletion()).rejects.toMatchObject(UNAVAILABLE);
      expect(await client.head('key')).toBe(bytes.length);
    });
  });

  it('keeps what one has pinned, and lets go of what nobody names', async () => {
    const { release } = await a.blobs.put(bytes);
    await b.remove(digest);
    expect(await keys()).toEqual([`blobs/${digest}`]);
    release();
    await a.settled();
    expect(await keys()).toEqual([]);
    expect(await store.marks()).toBe(0);
    await save(a);
    await b.drop(digest);
    expect(await keys()).toEqual([]);
    expect(await store.marks()).toBe(0);
  });

  it('refuses whoever erases so late that another has stored the same again', async () => {
    const real = client.deletion.bind(client);
    vi.spyOn(client, 'deletion').mockImplementation((key) => real(key, 1));
    await save(a);
    const { reached, go } = a.stopAt('before take');
    const dropping = a.drop(digest);
    await reached;
    store.clock.advance(ERASURE_MS);
    await save(b);
    await sleep(2100);
    go();
    await expect(dropping).rejects.toMatchObject(UNAVAILABLE);
    expect(await keys()).toEqual([`blobs/${digest}`]);
    expect(await store.isNamed(digest)).toBe(true);
  });

  it('is told to erase with a minute of time, which a claim outlasts by any clock', async () => {
    const asked = vi.spyOn(client, 'deletion');
    await save(a);
    await a.drop(digest);
    const [[, seconds] = []] = asked.mock.calls.slice(-1);
    expect(seconds).toBe(60);
    expect(1000 * Number(seconds) + SKEW_MAX_MS).toBeLessThan(ERASURE_MS);
  });

  describe('an upload that two gateways collect at once', () => {
    it('has its bytes in both', async () => {
      await send();
      const { reached, go } = a.stopAt('before uploadReceived');
      const first = collects(a).collect(UPLOAD);
      await reached;
      await collects(b).collect(UPLOAD);
      const received = await store.read((one) => one.uploads.find(UPLOAD));
      expect(received).toMatchObject({ digest });
      go();
      await first;
      await Promise.all([a.settled(), b.settled()]);
      expect(await keys()).toEqual([`blobs/${digest}`]);
      expect(await store.marks()).toBe(0);
    });

    it('survives one that dies with it', async () => {
      await send();
      const { reached } = a.stopAt('before uploadReceived');
      void collects(a).collect(UPLOAD);
      await reached;
      await collects(gateway('c')).collect(UPLOAD);
      expect(await store.read((one) => one.uploads.find(UPLOAD))).toMatchObject({ digest });
    });
  });
});
