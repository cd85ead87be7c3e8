import { hash, randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Databases } from '../../../gateway/store/databases.ts';
import { maintain } from '../../../gateway/projects/maintenance.ts';
import { FakeClock, TestGateway } from '../../helpers/gateway.ts';
import { TestDisk } from '../../shared/operations/disk.ts';

const HOUR_MS = 3_600_000;
const bytes = randomBytes(300_000);
const digest = hash('sha256', bytes);

let clock: FakeClock;
let gateway: TestGateway;
let disk: TestDisk;
/** Others may write the databases of the gateway if `shared`, which are files all the same. */
async function start(shared: boolean): Promise<void> {
  vi.spyOn(Databases.prototype, 'onServer', 'get').mockReturnValue(shared);
  clock = new FakeClock();
  gateway = await TestGateway.start({ clock });
  disk = await TestDisk.of(gateway, () => clock.now());
}
afterEach(() => gateway.stop());

const nextExpiry = () => disk.read(({ blobPins }) => blobPins.nextExpiry());

async function putFile(): Promise<{ status: number; body: unknown }> {
  const headers = {
    authorization: `Bearer ${gateway.apiKey}`,
    'content-type': 'application/octet-stream',
  };
  const body = new Uint8Array(bytes);
  const answer = await fetch(`${gateway.url}/v1/files/a.bin`, { method: 'PUT', headers, body });
  return { status: answer.status, body: await answer.json() };
}

async function roundTrip(): Promise<number> {
  const before = disk.project.position;
  expect((await putFile()).status).toBe(200);
  expect(disk.blobFiles()).toEqual([digest]);
  await expect.poll(nextExpiry).toBeNull();
  expect((await gateway.call('DELETE', '/v1/files/a.bin')).status).toBe(200);
  await expect.poll(() => disk.blobFiles()).toEqual([]);
  await expect.poll(nextExpiry).toBeNull();
  return disk.project.position - before;
}

describe('a gateway with databases that others write as well', () => {
  beforeEach(() => start(true));

  it('pins what it stores until a row names it, and claims what it erases', async () => {
    // The file and its removal, a pin and its end, a claim and its end.
    expect(await roundTrip()).toBe(6);
  });

  it('pins the bodies of events', async () => {
    const url = await gateway.addSource({ name: 'open' });
    const delivered = await gateway.deliver(url, new Uint8Array(bytes));
    expect(delivered.status).toBe(200);
    await expect.poll(nextExpiry).toBeNull();
    expect(disk.blobFiles()).toEqual([digest]);
  });

  it('pins uploads, which become files', async () => {
    const { id, url } = await disk.openUpload({ size: bytes.length });
    const headers = { 'content-type': 'text/plain' };
    const sent = await fetch(url, { method: 'PUT', body: new Uint8Array(bytes), headers });
    expect(sent.status).toBe(200);
    await disk.complete(id);
    await expect.poll(nextExpiry).toBeNull();
    expect(disk.blobFiles()).toEqual([digest]);
  });

  it('answers UNAVAILABLE for a file whose pin has lapsed, and keeps nothing of it', async () => {
    const run = disk.project.writes.run.bind(disk.project.writes);
    vi.spyOn(disk.project.writes, 'run').mockImplementation(async (name, input) => {
      // Another gateway, an hour later.
      if (name === 'operation') {
        await disk.write(async ({ blobPins }) => {
          await blobPins.deleteLapsed(clock.now() + HOUR_MS, 10);
        });
      }
      return run(name, input);
    });
    expect(await putFile()).toMatchObject({
      status: 503,
      body: { error: { code: 'UNAVAILABLE', details: { retry_after: 1 } } },
    });
    await expect.poll(() => disk.blobFiles()).toEqual([]);
    vi.restoreAllMocks();
    expect((await putFile()).status).toBe(200);
  });

  it('takes away in maintenance what one that died has left pinned', async () => {
    const { release } = await disk.project.blobs.put(bytes);
    expect(await nextExpiry()).toBe(clock.now() + HOUR_MS);
    vi.spyOn(disk.project, 'removeBlob').mockResolvedValueOnce();
    release();
    clock.advance(HOUR_MS - 1);
    await maintain(disk.project, clock);
    expect(disk.blobFiles()).toEqual([digest]);
    clock.advance(1);
    await maintain(disk.project, clock);
    await expect.poll(() => disk.blobFiles()).toEqual([]);
    await expect.poll(nextExpiry).toBeNull();
  });
});

describe('a gateway that has its databases for itself', () => {
  beforeEach(() => start(false));

  it('writes no more than the file and its removal', async () => {
    expect(await roundTrip()).toBe(2);
  });
});
