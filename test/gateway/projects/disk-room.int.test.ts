import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LOCAL_INGRESS } from '../../../gateway/lib/ingress-config.ts';
import { FakeClock, TestGateway } from '../../helpers/gateway.ts';
import { mailsOf } from '../../helpers/outbox.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const RESERVE = 100 * MIB;
/** A look at the disk is good for two seconds. */
const LOOK_MS = 2001;

const TAKEN = { status: 200 };
const REFUSED = {
  status: 503,
  body: { error: { code: 'UNAVAILABLE', details: { kind: 'gateway_disk', retry_after: 30 } } },
};

let clock: FakeClock;
let freeBytes: number;
let looks: number;
let gateway: TestGateway;
let large: TestGateway;
let largeHook: string;
let smallHook: string;
beforeEach(async () => {
  clock = new FakeClock();
  freeBytes = 10 * RESERVE;
  looks = 0;
  const diskProbe = async () => {
    looks += 1;
    return { freeBytes, totalBytes: 1000 * MIB };
  };
  const ingress = { ...LOCAL_INGRESS, diskReserveBytes: RESERVE, diskProbe };
  gateway = await TestGateway.start({ clock, ingress });
  smallHook = await gateway.addSource({ name: 'open' });
  // A second project on the same gateway.
  const { project, apiKey } = await gateway.gateway.createProject({ name: 'Large', slug: 'large' });
  await gateway.gateway.setOwner(project.id, 'ana@example.com');
  large = Object.assign(Object.create(gateway) as TestGateway, { apiKey, projectId: project.id });
  largeHook = await large.addSource({ name: 'open' });
  await post(largeHook, 2 * MIB);
  await post(smallHook, MIB);
});
afterEach(() => gateway.stop());

const post = (url: string, bytes: number) => gateway.deliver(url, Buffer.from(randomBytes(bytes)));

/** The disk has this much room from now on, and the gateway has noticed. */
async function room(bytes: number): Promise<void> {
  freeBytes = bytes;
  clock.advance(LOOK_MS);
  await gateway.gateway.diskStatus();
}

const putFile = (to: TestGateway, bytes: number) =>
  to.call('PUT', `/v1/files/${randomBytes(4).toString('hex')}`, {
    body: { content_base64: randomBytes(bytes).toString('base64') },
  });

async function events(of: TestGateway): Promise<{ id: string; type: string; payload: unknown }[]> {
  const { body } = await of.call<{ items: { id: string; type: string; payload: unknown }[] }>(
    'GET',
    '/v1/inbox',
  );
  return body.items;
}

describe('a disk that is nearly full', () => {
  it('refuses the project that stores the most, and nobody else', async () => {
    await room(RESERVE - 1);
    expect(await post(largeHook, 10)).toMatchObject(REFUSED);
    expect((await post(largeHook, 10)).headers.get('retry-after')).toBe('30');
    expect(await putFile(large, 1000)).toMatchObject(REFUSED);
    expect(await post(smallHook, 500 * KIB)).toMatchObject(TAKEN);
    expect(await putFile(gateway, 1000)).toMatchObject(TAKEN);
    // Its own work goes on.
    const [event] = await events(large);
    expect(
      (await large.call('POST', '/v1/inbox/claim', { body: { event_id: event?.id } })).status,
    ).toBe(200);
    expect((await large.call('PUT', '/v1/kv/k', { body: { value: 1 } })).status).toBeLessThan(300);
  });

  it('tells the owner and the inbox of that project, once', async () => {
    await room(RESERVE - 1);
    for (let n = 0; n < 5; n += 1) await post(largeHook, 10);
    await expect.poll(() => mailsOf(gateway.folder).length).toBe(1);
    const told = (await events(large)).filter(({ type }) => type === 'source.limited');
    expect(told).toMatchObject([
      {
        payload: {
          source: null,
          kind: 'gateway_disk',
          free_bytes: RESERVE - 1,
          reserve_bytes: RESERVE,
        },
      },
    ]);
    await room(10 * RESERVE);
    await room(RESERVE - 1);
    expect(await post(largeHook, 10)).toMatchObject(REFUSED);
    expect(mailsOf(gateway.folder)).toHaveLength(1);
  });

  it('refuses any project that grows as large as it', async () => {
    await room(RESERVE - 1);
    expect(await post(smallHook, MIB)).toMatchObject(TAKEN);
    expect(await post(smallHook, MIB)).toMatchObject(TAKEN);
    await room(RESERVE - 1);
    expect(await post(smallHook, 10)).toMatchObject(REFUSED);
  });

  it('takes everything again once there is more room than it takes to begin', async () => {
    await room(RESERVE - 1);
    await room(RESERVE * 1.2);
    expect(await post(largeHook, 10)).toMatchObject(REFUSED);
    await room(RESERVE * 1.25);
    expect(await post(largeHook, MIB)).toMatchObject(TAKEN);
  });
});

describe('a disk with hardly any room', () => {
  it('refuses what is large, and takes what is small', async () => {
    await room(RESERVE / 4 - 1);
    expect(await post(smallHook, 9 * KIB)).toMatchObject(REFUSED);
    expect(await putFile(gateway, 9 * KIB)).toMatchObject(REFUSED);
    expect(await post(smallHook, 7 * KIB)).toMatchObject(TAKEN);
    expect((await gateway.call('PUT', '/v1/kv/k', { body: { value: 1 } })).status).toBeLessThan(
      300,
    );
    const [event] = await events(gateway);
    const claim = { body: { event_id: event?.id } };
    const { status, body } = await gateway.call('POST', '/v1/inbox/claim', claim);
    expect(status).toBe(200);
    const ack = { body: { event_id: event?.id, lease_id: body['lease_id'] } };
    expect((await gateway.call('POST', '/v1/inbox/ack', ack)).status).toBe(200);
  });
});

describe('a gateway that nothing comes into', () => {
  it('does not look at the disk, and otherwise at most every two seconds', async () => {
    const before = looks;
    clock.advance(60_000);
    await gateway.call('GET', '/v1/whoami');
    expect(looks).toBe(before);
    for (let n = 0; n < 10; n += 1) await post(smallHook, 10);
    expect(looks).toBe(before + 1);
  });
});
