import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock, TestGateway } from '../../../helpers/gateway.ts';
import { Person } from '../sign-in/person.ts';
import { ANA, RawApp } from './app.ts';
import { Browser } from './browser.ts';

const DAY_MS = 86_400_000;

interface Key {
  readonly id: string;
  readonly api_key: string;
  readonly expires_at: string | null;
  readonly client: string | null;
}

let clock: FakeClock;
let gateway: TestGateway;
let ownerKey: string;
let app: RawApp;
let tokens: Record<string, unknown>;

beforeAll(async () => {
  clock = new FakeClock();
  gateway = await TestGateway.start({ clock, signIn: true });
  ownerKey = (await new Person(gateway, ANA).project({ name: 'Acme' })).api_key;
  app = await RawApp.registered(gateway);
});
afterAll(() => gateway.stop());
beforeEach(async () => {
  clock.advance(DAY_MS);
  const browser = await Browser.signedIn(gateway, ANA);
  await browser.openFromApp(app.url());
  const { next } = await browser.send({ verb: 'allow', lifetime: '7', scopes: browser.boxes() });
  const code = new URL(next ?? '').searchParams.get('code') ?? '';
  tokens = (await app.exchange(code)).body;
});

function create(key: unknown, body: Record<string, unknown> = {}) {
  const asked = { name: 'side door', scopes: ['admin', 'disk'], ...body };
  return gateway.call<Key>('POST', '/v1/keys', { key: String(key), body: asked });
}

async function list(): Promise<Key[]> {
  return (await gateway.call<{ items: Key[] }>('GET', '/v1/keys', { key: ownerKey })).body.items;
}

describe('an app with admin', () => {
  it('makes no key that lives longer than its own access, also not by a key that it made', async () => {
    const end = new Date(clock.now() + 7 * DAY_MS).toISOString();
    const { body: first } = await create(tokens['access_token']);
    expect(first.expires_at).toBe(end);
    const { body: second } = await create(first.api_key);
    expect(second.expires_at).toBe(end);
    const late = new Date(clock.now() + 8 * DAY_MS).toISOString();
    const refused = await create(second.api_key, { expires_at: late });
    expect(refused).toMatchObject({
      status: 400,
      body: { error: { details: { fields: [{ path: 'expires_at' }] } } },
    });
    const soon = new Date(clock.now() + DAY_MS).toISOString();
    expect((await create(second.api_key, { expires_at: soon })).body.expires_at).toBe(soon);
    expect((await create(ownerKey)).body.expires_at).toBeNull();
  });

  it.each<[string, (id: string) => Promise<{ status: number }>]>([
    ['its owner revokes it', (id) => gateway.call('DELETE', `/v1/keys/${id}`, { key: ownerKey })],
    ['it gives its access back', () => app.revoke(tokens['refresh_token'])],
  ])('leaves no keys behind when %s', async (_what, end) => {
    const { id = '' } = (await list()).findLast(({ client }) => client !== null) ?? {};
    const { body: first } = await create(tokens['access_token']);
    const { body: second } = await create(first.api_key);
    await gateway.call('DELETE', `/v1/keys/${first.id}?keep=true`, { key: ownerKey });
    expect(await app.works(second.api_key)).toBe(true);
    expect((await end(id)).status).toBe(200);
    expect(await app.works(second.api_key)).toBe(false);
    expect(await app.works(ownerKey)).toBe(true);
  });

  it('gets no other key’s secret by rotating it, also not by a key that it made', async () => {
    const { body: other } = await create(ownerKey);
    const { body: own } = await create(tokens['access_token']);
    for (const key of [String(tokens['access_token']), own.api_key]) {
      const rotated = await gateway.call('POST', `/v1/keys/${other.id}/rotate`, { key });
      expect(rotated).toMatchObject({
        status: 400,
        body: { error: { details: { fields: [{ path: 'key_id' }] } } },
      });
    }
    const itself = await gateway.call('POST', `/v1/keys/${own.id}/rotate`, { key: own.api_key });
    expect(itself.status).toBe(201);
    const byOwner = await gateway.call('POST', `/v1/keys/${own.id}/rotate`, { key: ownerKey });
    expect(byOwner.status).toBe(201);
  });
});
