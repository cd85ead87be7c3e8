import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HOSTED_INGRESS } from '../../gateway/lib/ingress-config.ts';
import { temporaryFolder, TestGateway } from '../helpers/gateway.ts';
import { required } from '../helpers/require.ts';

const MIB = 1024 * 1024;
/** A tenth of the disk. */
const RESERVE = 25.6 * MIB;
/** A look at the disk is good for two seconds. */
const LOOK_MS = 2100;

const folder = temporaryFolder();
const ballast = join(folder.path, 'ballast');

function run(program: string, ...args: string[]): void {
  execFileSync(program, args, { stdio: 'ignore' });
}

function mounted(): boolean {
  try {
    run('mount', '-t', 'tmpfs', '-o', 'size=256m,mode=0700', 'tmpfs', folder.path);
    return true;
  } catch {
    return false;
  }
}

const ready = required(
  'the reserve of a disk',
  mounted(),
  'a tmpfs cannot be mounted here (needs root)',
);

let gateway: TestGateway;
let smallKey: string;
let [large, small] = ['', ''];

beforeAll(async () => {
  if (!ready) return;
  gateway = await TestGateway.start({ folder: folder.path, ingress: HOSTED_INGRESS });
  large = await gateway.addSource({ name: 'open' });
  ({ apiKey: smallKey } = await gateway.gateway.createProject({ name: 'Small', slug: 'small' }));
  const body = { type: 'webhook', name: 'open' };
  const added = await gateway.call<{ url: string }>('POST', '/v1/sources', { key: smallKey, body });
  small = added.body.url;
});
afterAll(async () => {
  if (ready) {
    await gateway.stop({ keepFolder: true });
    run('umount', '--lazy', folder.path);
  }
  folder.remove();
});

const post = async (url: string, bytes: number) =>
  (await gateway.deliver(url, Buffer.from(randomBytes(bytes)))).status;

/** Leaves this much room on the disk, and waits until the gateway looks again. */
async function leave(bytes: number): Promise<void> {
  rmSync(ballast, { force: true });
  const { bavail, bsize } = statfsSync(folder.path);
  writeFileSync(ballast, Buffer.alloc(Math.max(0, bavail * bsize - bytes)));
  await sleep(LOOK_MS);
  await gateway.gateway.diskStatus();
}

describe.skipIf(!ready)('a disk that fills up', () => {
  it('takes everything while there is room', async () => {
    for (let n = 0; n < 10; n += 1) expect(await post(large, MIB)).toBe(200);
    expect(await post(small, MIB)).toBe(200);
  });

  it('first refuses the project that stores the most', async () => {
    await leave(RESERVE - 0.5 * MIB);
    expect(await post(large, MIB)).toBe(503);
    expect(await post(large, 10)).toBe(503);
    expect(await post(small, MIB)).toBe(200);
    expect(await post(small, 10)).toBe(200);
  });

  it('then refuses large bodies of anyone, and goes on with small writes and acks', async () => {
    await leave(RESERVE / 5);
    expect(await post(small, MIB)).toBe(503);
    for (let n = 0; n < 20; n += 1) expect(await post(small, 1000)).toBe(200);
    const { body } = await gateway.call<{ items: { id: string }[] }>('GET', '/v1/inbox');
    for (const { id: event_id } of body.items.slice(0, 5)) {
      const claim = await gateway.call('POST', '/v1/inbox/claim', { body: { event_id } });
      expect(claim.status).toBe(200);
      const ack = await gateway.call('POST', '/v1/inbox/ack', { body: { event_id } });
      expect(ack.status).toBe(200);
    }
  });

  it('takes everything again once there is room', async () => {
    await leave(RESERVE * 2);
    for (const url of [large, small]) expect(await post(url, MIB)).toBe(200);
    expect((await gateway.call('POST', '/v1/ledger/verify', { body: {} })).body).toMatchObject({
      ok: true,
    });
  });
});
