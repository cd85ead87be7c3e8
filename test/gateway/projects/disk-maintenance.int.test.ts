import { hash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { DeletionClock } from '../../../gateway/projects/trusted-clock.ts';
import { maintain } from '../../../gateway/projects/maintenance.ts';
import { FakeClock, STEADY, TestGateway, UNSTEADY } from '../../helpers/gateway.ts';
import { TestDisk } from '../../shared/operations/disk.ts';

let clock: FakeClock;
let gateway: TestGateway;
let disk: TestDisk;
beforeEach(async () => {
  clock = new FakeClock();
  gateway = await TestGateway.start({ clock });
  disk = await TestDisk.of(gateway, () => clock.now());
});
afterEach(() => gateway.stop());

const maintenance = (deletionClock?: DeletionClock) =>
  maintain(disk.project, clock, deletionClock ? { deletionClock } : {});
const use = () => disk.read((store) => store.disk.use());

const nextLinkExpiry = () => disk.read((store) => store.fileLinks.nextExpiry());
const put = (url: string, body: string) =>
  fetch(url, { method: 'PUT', body, headers: { 'content-type': 'text/plain' } });

/** Keys of 3 bytes each. */
function addKeys(count: number, name: string, expires_at: number | null): Promise<void> {
  return disk.write(async (store) => {
    for (let n = 0; n < count; n += 1) {
      const key = `${name}/${n}`;
      await store.kv.put({
        key,
        size_bytes: 3,
        version: await store.disk.nextVersion(),
        expires_at,
        updated_at: new Date(clock.now()).toISOString(),
        note: null,
        value: Buffer.from('"x"'),
      });
    }
    await store.disk.add('keys', count);
    await store.disk.add('key_bytes', 3 * count);
  });
}

async function entries(op?: string): Promise<{ op: string; subject: string | null }[]> {
  const query = op === undefined ? '' : `&op=${op}`;
  const { body } = await gateway.call<{ items: { op: string; subject: string | null }[] }>(
    'GET',
    `/v1/ledger?limit=500${query}`,
  );
  return body.items;
}

describe('keys whose time is over', () => {
  it('go in portions, with their room, and nothing else does', async () => {
    await addKeys(230, 'short', clock.now() + 1000);
    await addKeys(3, 'long', clock.now() + 2000);
    await addKeys(2, 'ever', null);
    const before = await entries();
    clock.advance(999);
    await maintenance();
    expect(await use()).toMatchObject({ keys: 235, keyBytes: 705 });
    clock.advance(1);
    await maintenance();
    expect(await use()).toMatchObject({ keys: 5, keyBytes: 15 });
    expect(await disk.read((store) => store.kv.stored('short/0'))).toBeUndefined();
    expect(await disk.read((store) => store.kv.stored('long/0'))).toBeDefined();
    expect(await disk.read((store) => store.kv.stored('ever/0'))).toBeDefined();
    expect(await entries()).toEqual(before);
  });

  it('go without a call: maintenance asks for its next time', async () => {
    await addKeys(1, 'short', clock.now() + 200);
    await maintenance();
    clock.advance(200);
    await expect.poll(async () => (await use()).keys, { interval: 10 }).toBe(0);
  });
});

describe('uploads whose time is over', () => {
  it('go with their room and their bytes, each with an entry in the ledger', async () => {
    const empty = await disk.openUpload({ size: 7, path: 'empty.txt' });
    const full = await disk.openUpload({ size: 5, path: 'full.txt' });
    const later = await disk.openUpload({ size: 9, path: 'later.txt', ms: 1_000_000 });
    await put(full.url, 'hello');
    expect(await use()).toMatchObject({ uploadBytes: 21 });
    clock.advance(899_999);
    await maintenance();
    expect(await use()).toMatchObject({ uploadBytes: 21 });
    clock.advance(1);
    await maintenance();
    expect(await use()).toMatchObject({ uploadBytes: 9 });
    await expect.poll(() => disk.blobFiles()).toEqual([]);
    expect(await disk.read((store) => store.uploads.find(later.id))).toBeDefined();
    const recorded = await entries('upload.expired');
    expect(new Set(recorded.map(({ subject }) => subject))).toEqual(new Set([empty.id, full.id]));
    const verified = await gateway.call('POST', '/v1/ledger/verify', { body: {} });
    expect(verified.body).toMatchObject({ ok: true });
    expect((await put(full.url, 'hello')).status).toBe(404);
  });

  it('leave bytes that a file names', async () => {
    const { url } = await disk.openUpload({ size: 5 });
    await put(url, 'hello');
    await disk.addFile('same.txt', 'hello');
    clock.advance(900_000);
    await maintenance();
    await disk.project.removeBlob(hash('sha256', 'hello'));
    expect(disk.blobFiles()).toEqual([hash('sha256', 'hello')]);
  });

  it('go in portions', async () => {
    for (let n = 0; n < 120; n += 1) await disk.openUpload({ size: 1 });
    clock.advance(900_000);
    await maintenance();
    expect(await use()).toMatchObject({ uploadBytes: 0 });
    expect(await entries('upload.expired')).toHaveLength(120);
  });

  it('go without a call', async () => {
    await disk.openUpload({ size: 5, ms: 200 });
    await maintenance();
    clock.advance(200);
    await expect.poll(async () => (await use()).uploadBytes, { interval: 10 }).toBe(0);
  });
});

describe('links whose time is over', () => {
  it('go, and leave no entry in the ledger', async () => {
    const version = await disk.addFile('a.txt', 'content');
    for (let n = 0; n < 120; n += 1) await disk.addLink('a.txt', version, { ms: 1000 });
    const later = await disk.addLink('a.txt', version, { ms: 2000 });
    const before = await entries();
    clock.advance(999);
    await maintenance();
    expect(await nextLinkExpiry()).toBe(clock.now() + 1);
    clock.advance(1);
    await maintenance();
    expect(await nextLinkExpiry()).toBe(clock.now() + 1000);
    expect((await fetch(later)).status).toBe(200);
    expect(await entries()).toEqual(before);
  });

  it('go without a call', async () => {
    await disk.addLink('a.txt', await disk.addFile('a.txt', 'content'), { ms: 200 });
    await maintenance();
    clock.advance(200);
    await expect.poll(nextLinkExpiry, { interval: 10 }).toBeNull();
  });
});

describe('while the clock is not deletionClock', () => {
  it('nothing goes, though nothing can be used either', async () => {
    await addKeys(1, 'short', clock.now() + 1000);
    const upload = await disk.openUpload({ size: 5, ms: 1000 });
    const link = await disk.addLink('a.txt', await disk.addFile('a.txt', 'x'), { ms: 1000 });
    clock.advance(86_400_000);
    await maintenance(UNSTEADY);
    expect(await use()).toMatchObject({ keys: 1, keyBytes: 3, uploadBytes: 5 });
    expect(await nextLinkExpiry()).not.toBeNull();
    expect((await fetch(link)).status).toBe(404);
    expect((await put(upload.url, 'hello')).status).toBe(404);
    await maintenance(STEADY);
    expect(await use()).toMatchObject({ keys: 0, keyBytes: 0, uploadBytes: 0 });
    expect(await nextLinkExpiry()).toBeNull();
  });
});
