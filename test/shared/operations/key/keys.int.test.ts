import { rmSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newApiKey } from '../../../../shared/lib/ids.ts';
import { inboxWait } from '../../../../shared/operations/inbox/wait.ts';
import { FakeClock, TestGateway } from '../../../helpers/gateway.ts';

const DAY_MS = 86_400_000;

interface Key {
  readonly id: string;
  readonly api_key: string;
  readonly scopes: string[];
  readonly last_used_at: string | null;
  readonly revoked_at: string | null;
}

let clock: FakeClock;
let gateway: TestGateway;
beforeEach(async () => {
  clock = new FakeClock();
  gateway = await TestGateway.start({ clock });
});
afterEach(() => gateway.stop());

const create = (body: Record<string, unknown>, key = gateway.apiKey) =>
  gateway.call<Key>('POST', '/v1/keys', { body: { name: 'test', ...body }, key });
const revoke = (id: string, key = gateway.apiKey) =>
  gateway.call('DELETE', `/v1/keys/${id}`, { key });
const whoami = (key: string) => gateway.call<{ key: { id: string } }>('GET', '/v1/whoami', { key });
const rotate = (id: string, body: Record<string, unknown> = {}, key = gateway.apiKey) =>
  gateway.call<Key>('POST', `/v1/keys/${id}/rotate`, { body, key });
const listKeys = async (key = gateway.apiKey): Promise<Key[]> =>
  (await gateway.call<{ items: Key[] }>('GET', '/v1/keys?limit=100', { key })).body.items;

describe('the number of active keys', () => {
  it('is 20; revoked and expired keys leave their place', async () => {
    const ids: string[] = [];
    for (let n = 1; n < 20; n += 1) {
      const expires = n === 1 && { expires_at: new Date(clock.now() + 1000).toISOString() };
      const answer = await create({ scopes: ['inbox:read'], ...expires });
      expect(answer.status).toBe(201);
      ids.push(answer.body.id);
    }
    const full = await create({ scopes: ['inbox:read'] });
    expect(full).toMatchObject({ status: 409, body: { error: { code: 'KEY_LIMIT_REACHED' } } });
    clock.advance(1000);
    expect((await create({ scopes: ['inbox:read'] })).status).toBe(201);
    expect((await create({ scopes: ['inbox:read'] })).status).toBe(409);
    await revoke(ids[5] ?? '');
    expect((await create({ scopes: ['inbox:read'] })).status).toBe(201);
  });

  it('holds when many are created at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => create({ scopes: ['inbox:read'] })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(19);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(11);
  });
});

describe('the last admin key', () => {
  it('stays, however it is tried', async () => {
    const [own] = await listKeys();
    const refused = { status: 409, body: { error: { code: 'LAST_ADMIN_KEY' } } };
    expect(await revoke(own?.id ?? '')).toMatchObject(refused);
    const expiring = await create({
      scopes: ['admin'],
      expires_at: new Date(clock.now() + DAY_MS).toISOString(),
    });
    expect(await revoke(own?.id ?? '')).toMatchObject(refused);
    await create({ scopes: ['inbox:read'] });
    expect((await revoke(own?.id ?? '', expiring.body.api_key)).status).toBe(403);
    const other = await create({ scopes: ['admin'] });
    // It made the other one, which would end with it.
    expect(await revoke(own?.id ?? '')).toMatchObject(refused);
    expect((await revoke(`${own?.id ?? ''}?keep=true`)).status).toBe(200);
    expect(await revoke(other.body.id, other.body.api_key)).toMatchObject(refused);
  });

  it('stays when two revoke one another at once', async () => {
    const [own] = await listKeys();
    const other = await create({ scopes: ['admin'] });
    const answers = await Promise.all([
      revoke(other.body.id),
      revoke(own?.id ?? '', other.body.api_key),
    ]);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const left = [gateway.apiKey, other.body.api_key].map((key) => whoami(key));
    expect((await Promise.all(left)).filter(({ status }) => status === 200)).toHaveLength(1);
  });
});

describe('a key', () => {
  it('that is revoked stops with the next call, and says so', async () => {
    const { body } = await create({ scopes: ['inbox:read'] });
    expect((await whoami(body.api_key)).status).toBe(200);
    const first = await revoke(body.id);
    expect(first.status).toBe(200);
    const after = await whoami(body.api_key);
    expect(after).toMatchObject({ status: 401, body: { error: { code: 'KEY_REVOKED' } } });
    expect(after.headers.get('www-authenticate')).toBe('Bearer');
    clock.advance(1000);
    expect((await revoke(body.id)).body).toEqual(first.body);
  });

  it('that is revoked ends its running waits, and no other', async () => {
    const url = await gateway.addSource({ name: 'open' });
    const { body } = await create({ scopes: ['inbox:read'] });
    const wait = (key: string) =>
      gateway.call<{ event: unknown }>('GET', '/v1/inbox/wait?timeout_seconds=20', { key });
    const ended = wait(body.api_key);
    const other = wait(gateway.apiKey);
    const project = await gateway.gateway.projects.find(gateway.projectId);
    await expect.poll(() => project?.waits.size, { interval: 5 }).toBe(2);
    expect((await revoke(body.id)).status).toBe(200);
    await gateway.deliver(url, 'one');
    expect(await ended).toMatchObject({ status: 401, body: { error: { code: 'KEY_REVOKED' } } });
    expect((await other).body.event).not.toBeNull();
    expect(project?.waits.size).toBe(0);
  });

  it('that is revoked between its check and its wait is told nothing', async () => {
    const url = await gateway.addSource({ name: 'open' });
    await gateway.deliver(url, 'one');
    const { body } = await create({ scopes: ['inbox:read'] });
    const { executor } = gateway.gateway;
    const caller = await executor.authenticate({
      authorization: `Bearer ${body.api_key}`,
      agentHeader: undefined,
      userAgent: undefined,
      idempotencyKey: undefined,
      requestId: 'req_test',
    });
    expect((await revoke(body.id)).status).toBe(200);
    const { signal } = new AbortController();
    const answer = executor.execute(inboxWait, { timeout_seconds: 1 }, caller, signal);
    await expect(answer).rejects.toMatchObject({ code: 'KEY_REVOKED' });
  });

  it('works until it expires and not a moment longer', async () => {
    const expires_at = new Date(clock.now() + 1000).toISOString();
    const { body } = await create({ scopes: ['inbox:read'], expires_at });
    clock.advance(999);
    expect((await whoami(body.api_key)).status).toBe(200);
    clock.advance(1);
    expect(await whoami(body.api_key)).toMatchObject({
      status: 401,
      body: { error: { code: 'UNAUTHENTICATED' } },
    });
    expect((await create({ scopes: ['inbox:read'], expires_at })).status).toBe(400);
  });

  it('that is missing, malformed, unknown or of no project is answered alike', async () => {
    const unknown = newApiKey(gateway.projectId);
    const elsewhere = newApiKey('prj_0000000000000000');
    const own = gateway.apiKey;
    const changed = own.slice(0, -1) + (own.endsWith('x') ? 'y' : 'x');
    const texts = new Set<string>();
    for (const key of [unknown, elsewhere, changed, `${own}x`, 'x', '', 'svc_live_']) {
      const answer = await whoami(key);
      expect(answer.status).toBe(401);
      texts.add(JSON.stringify(answer.body));
    }
    const missing = await fetch(`${gateway.url}/v1/whoami`);
    texts.add(JSON.stringify(await missing.json()));
    const basic = { authorization: `Basic ${own}` };
    texts.add(JSON.stringify((await gateway.call('GET', '/v1/whoami', { headers: basic })).body));
    expect(texts.size).toBe(1);
  });

  it('cannot make one that may do more than it', async () => {
    const admin = await create({ scopes: ['admin', 'inbox:read'] });
    const more = await create({ scopes: ['inbox:write'] }, admin.body.api_key);
    expect(more).toMatchObject({ status: 400, body: { error: { code: 'VALIDATION_FAILED' } } });
    const same = await create({ scopes: ['inbox:read', 'inbox:read'] }, admin.body.api_key);
    expect(same).toMatchObject({ status: 201, body: { scopes: ['inbox:read'] } });
  });

  it('cannot take over one that may do more than it by rotating it', async () => {
    const [own] = await listKeys();
    const admin = await create({ scopes: ['admin'] });
    const taken = await rotate(own?.id ?? '', {}, admin.body.api_key);
    expect(taken).toMatchObject({ status: 403, body: { error: { code: 'SCOPE_MISSING' } } });
    expect(JSON.stringify(taken.body)).not.toContain('svc_live_');
    expect((await whoami(gateway.apiKey)).status).toBe(200);
  });

  it('is shown once, and stored nowhere', async () => {
    const { body } = await create({ scopes: ['inbox:read'] });
    expect(body.api_key).toMatch(/^svc_live_/);
    const text = JSON.stringify(await listKeys());
    expect(text).not.toContain(body.api_key);
    expect(text).toContain(body.api_key.slice(-4));
  });
});

describe('a rotation', () => {
  it('keeps the id and its leases, and ends the secret before at once', async () => {
    const url = await gateway.addSource({ name: 'open' });
    const event_id = String((await gateway.deliver(url, 'one')).body['event_id']);
    const { body } = await create({ scopes: ['inbox:write'] });
    await gateway.call('POST', '/v1/inbox/claim', { body: { event_id }, key: body.api_key });
    const rotated = await rotate(body.id);
    expect(rotated.body.id).toBe(body.id);
    expect((await whoami(body.api_key)).status).toBe(401);
    const key = rotated.body.api_key;
    expect((await whoami(key)).body.key.id).toBe(body.id);
    const acked = await gateway.call('POST', '/v1/inbox/ack', { body: { event_id }, key });
    expect(acked.status).toBe(200);
  });

  it('lets the secret before go on for the grace, and for no more', async () => {
    const { body } = await create({ scopes: ['inbox:read'] });
    const rotated = await rotate(body.id, { grace_seconds: 60 });
    clock.advance(59_999);
    expect((await whoami(body.api_key)).body.key.id).toBe(body.id);
    clock.advance(1);
    expect((await whoami(body.api_key)).status).toBe(401);
    expect((await whoami(rotated.body.api_key)).status).toBe(200);
  });

  it('again ends the grace of the secret two before', async () => {
    const { body } = await create({ scopes: ['inbox:read'] });
    const second = await rotate(body.id, { grace_seconds: 3600 });
    const third = await rotate(body.id, { grace_seconds: 3600 });
    expect((await whoami(body.api_key)).status).toBe(401);
    expect((await whoami(second.body.api_key)).status).toBe(200);
    await revoke(body.id);
    for (const key of [second.body.api_key, third.body.api_key]) {
      expect((await whoami(key)).status).toBe(401);
    }
  });
});

describe('when a key was last used', () => {
  it('may fail to be written without keeping the gateway from closing', async () => {
    await whoami(gateway.apiKey);
    const project = await gateway.gateway.projects.find(gateway.projectId);
    await project?.store.close();
    await expect(gateway.gateway.close()).resolves.toBeUndefined();
  });

  it('is written when the gateway closes', async () => {
    const { body } = await create({ scopes: ['inbox:read'] });
    expect((await listKeys()).find(({ id }) => id === body.id)?.last_used_at).toBeNull();
    clock.advance(5000);
    await whoami(body.api_key);
    const usedAt = new Date(clock.now()).toISOString();
    const { folder, projectId } = gateway;
    await gateway.stop({ keepFolder: true });
    gateway = await TestGateway.start({ clock, folder });
    const { apiKey } = await gateway.gateway.createAdminKey(projectId);
    const found = (await listKeys(apiKey)).find(({ id }) => id === body.id);
    expect(found?.last_used_at).toBe(usedAt);
    rmSync(folder, { recursive: true, force: true });
  });
});
