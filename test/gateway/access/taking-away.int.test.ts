import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { maintain } from '../../../gateway/projects/maintenance.ts';
import { Person } from '../auth/sign-in/person.ts';
import { WebVisitor } from '../web/inbox/web-visitor.ts';
import { linkToken, mailsOf, tokensOf } from '../../helpers/outbox.ts';
import { OWNER, Stage, type Aftermath, type Key } from './stage.ts';

const DAY_MS = 86_400_000;
/** As much as the owner's own key may do. */
const SCOPES = ['admin', 'ledger:read', 'inbox:read', 'inbox:write', 'approvals', 'disk', 'send'];

let stage: Stage;
beforeEach(async () => {
  stage = await Stage.set();
});
afterEach(() => stage.stop());

const revoke = (id: string, by = stage.ownerKey, query = '') =>
  stage.call<Aftermath & { error?: { code: string; hint: string } }>(
    by,
    'DELETE',
    `/v1/keys/${id}${query}`,
  );
const ownId = async (key: string): Promise<string> =>
  (await stage.made<{ key: Key }>(key, 'GET', '/v1/whoami')).key.id;
const ids = (things: Aftermath['ended']): string[] => things.map(({ kind, id }) => `${kind} ${id}`);
const addRoute = (by: string, path = '/route') =>
  stage.made<Key>(by, 'POST', '/v1/routes', { callback_url: stage.receiver.url(path) });

/** Somebody who joined by an invitation of the owner's, with a key of their own. */
async function joined(email: string, role: string): Promise<{ id: string; key: string }> {
  const owner = await WebVisitor.asOwner(stage.gateway, OWNER);
  const before = tokensOf(stage.gateway.folder, 'ui/join').length;
  const page = `/ui/p/${stage.slug}/members?invite=1`;
  await owner.get(page);
  await owner.post(page, { fields: { email, role } });
  const token = await linkToken(stage.gateway.folder, 'ui/join', before + 1);
  await new WebVisitor(stage.gateway).enter(`/ui/join/${token}`);
  const { api_key: key } = await new Person(stage.gateway, email).key(stage.projectId);
  const { items } = await stage.made<{ items: { id: string }[] }>(key, 'GET', '/v1/members');
  return { id: items.at(-1)?.id ?? '', key };
}

describe('revoking a key', () => {
  it('answers what ended and what goes on, and shows it before', async () => {
    const { id, api_key: key } = await stage.newKey(stage.ownerKey, ['admin', 'disk']);
    const child = await stage.newKey(key, ['admin']);
    const route = await addRoute(child.api_key);
    await stage.made(child.api_key, 'POST', '/v1/sources', { type: 'webhook', name: 'hidden' });
    const invited = { email: 'eve@example.com', role: 'viewer' };
    const { member } = await stage.made<{ member: Key }>(key, 'POST', '/v1/members', invited);
    const seen = await stage.made<{ ends: Aftermath['ended']; stays: Aftermath['left'] }>(
      stage.ownerKey,
      'GET',
      `/v1/keys/${id}`,
    );
    const wanted = [`key ${child.id}`, `route ${route.id}`, `invitation ${member.id}`];
    expect(ids(seen.ends)).toEqual(wanted);
    const { body } = await revoke(id);
    expect(ids(body.ended)).toEqual(wanted);
    expect(ids(body.left)).toEqual(['source hidden', 'source orders']);
    expect(body.left[0]?.hint).toContain('svc source remove hidden');
    expect(body.left[1]?.hint).toContain('It could read the address');
    expect(seen.stays).toEqual(body.left);
  });

  it('keeps what it made if asked, and ends it when it is called again', async () => {
    const { id, api_key: key } = await stage.newKey(stage.ownerKey);
    const child = await stage.newKey(key);
    const kept = await revoke(id, stage.ownerKey, '?keep=true');
    expect(kept.body.ended).toEqual([]);
    expect(ids(kept.body.left)).toContain(`key ${child.id}`);
    expect([await stage.reads(key), await stage.reads(child.api_key)]).toEqual([false, true]);
    expect(ids((await revoke(id)).body.ended)).toEqual([`key ${child.id}`]);
    expect(await stage.reads(child.api_key)).toBe(false);
  });

  it('changes nothing where the last admin key would end with it', async () => {
    const id = await ownId(stage.ownerKey);
    const child = await stage.newKey(stage.ownerKey);
    const route = await addRoute(child.api_key);
    const refused = await revoke(id);
    expect(refused).toMatchObject({ status: 409, body: { error: { code: 'LAST_ADMIN_KEY' } } });
    expect([await stage.reads(stage.ownerKey), await stage.reads(child.api_key)]).toEqual([
      true,
      true,
    ]);
    const { items } = await stage.made<{ items: { id: string; enabled: boolean }[] }>(
      stage.ownerKey,
      'GET',
      '/v1/routes',
    );
    expect(items).toMatchObject([{ id: route.id, enabled: true }]);
  });

  it('leaves no key that was being made at that moment', async () => {
    const { id, api_key: key } = await stage.newKey(stage.ownerKey);
    const made = Array.from({ length: 8 }, () =>
      stage.call<Key>(key, 'POST', '/v1/keys', { name: 'quick', scopes: ['inbox:read'] }),
    );
    await revoke(id);
    for (const { body } of await Promise.all(made)) {
      expect(body.api_key === undefined || !(await stage.reads(body.api_key))).toBe(true);
    }
  });

  it('is refused to an admin and to keys where the key is an owner’s, and nobody else’s is', async () => {
    const id = await ownId(stage.ownerKey);
    const ben = await joined('ben@example.com', 'admin');
    const refused = await revoke(id, ben.key);
    expect(refused).toMatchObject({ status: 403, body: { error: { code: 'SCOPE_MISSING' } } });
    expect(refused.body.error?.hint).toContain('belongs to an owner');
    expect(await stage.reads(stage.ownerKey)).toBe(true);
    const second = await new Person(stage.gateway, OWNER).key(stage.projectId);
    expect((await revoke(id, second.api_key)).status).toBe(200);
    expect((await revoke(await ownId(ben.key), second.api_key)).status).toBe(200);
  });
});

describe('a new secret', () => {
  it('hands on what the key made, or ends it if asked', async () => {
    const { id, api_key: key } = await stage.newKey(stage.ownerKey);
    const child = await stage.newKey(key);
    const path = `/v1/keys/${id}/rotate`;
    const first = await stage.made<Key & Aftermath>(stage.ownerKey, 'POST', path, {});
    expect([first.ended, await stage.reads(child.api_key)]).toEqual([[], true]);
    const listed = await stage.made<{ maker: string }>(
      stage.ownerKey,
      'GET',
      `/v1/keys/${child.id}`,
    );
    expect(listed.maker).toBe('key side door');
    const second = await stage.made<Key & Aftermath>(stage.ownerKey, 'POST', path, {
      end_made: true,
    });
    expect(ids(second.ended)).toEqual([`key ${child.id}`]);
    expect([await stage.reads(child.api_key), await stage.reads(second.api_key)]).toEqual([
      false,
      true,
    ]);
  });

  it('leaves the old one, which works for a minute yet, nothing to stay with', async () => {
    const { id, api_key: old } = await stage.newKey(stage.ownerKey);
    await stage.made(old, 'POST', `/v1/keys/${id}/rotate`, { end_made: true });
    expect(await stage.reads(old)).toBe(true);
    const tries: [string, string, unknown][] = [
      ['POST', `/v1/keys/${id}/rotate`, {}],
      ['POST', '/v1/keys', { name: 'x', scopes: ['inbox:read'] }],
      ['POST', '/v1/routes', { callback_url: stage.receiver.url() }],
      ['POST', '/v1/members', { email: 'eve@example.com', role: 'viewer' }],
      ['POST', '/v1/sources', { type: 'webhook', name: 'x' }],
      ['DELETE', `/v1/keys/${id}`, undefined],
    ];
    for (const [method, path, body] of tries) {
      expect([path, (await stage.call(old, method, path, body)).status]).toEqual([path, 401]);
    }
    stage.clock.advance(61_000);
    expect(await stage.reads(old)).toBe(false);
  });
});

describe('what goes on', () => {
  it('names members who joined by its invitation', async () => {
    const { id, api_key: key } = await stage.newKey(stage.ownerKey);
    const before = tokensOf(stage.gateway.folder, 'ui/join').length;
    await stage.made(key, 'POST', '/v1/members', { email: 'eve@example.com', role: 'member' });
    const token = await linkToken(stage.gateway.folder, 'ui/join', before + 1);
    await new WebVisitor(stage.gateway).enter(`/ui/join/${token}`);
    const { body } = await revoke(id);
    expect(body.left.find(({ kind }) => kind === 'member')).toMatchObject({
      name: 'e***@example.com',
    });
  });

  it('ends when an admin gets a smaller role: routes and invitations', async () => {
    const ben = await joined('ben@example.com', 'admin');
    const route = await addRoute(ben.key);
    const invited = { email: 'eve@example.com', role: 'viewer' };
    await stage.made(ben.key, 'POST', '/v1/members', invited);
    const owner = await WebVisitor.asOwner(stage.gateway, OWNER);
    const page = `/ui/p/${stage.slug}/members/${ben.id}`;
    await owner.get(page);
    expect((await owner.post(page, { fields: { act: 'role', role: 'member' } })).status).toBe(303);
    const { items } = await stage.made<{ items: { id: string; enabled: boolean }[] }>(
      stage.ownerKey,
      'GET',
      '/v1/routes',
    );
    expect(items).toMatchObject([{ id: route.id, enabled: false }]);
    const members = await stage.made<{ items: { address: string }[] }>(
      stage.ownerKey,
      'GET',
      '/v1/members',
    );
    expect(members.items.map(({ address }) => address)).not.toContain('e***@example.com');
    expect(await stage.reads(ben.key)).toBe(true);
  });

  it('is listed with who made it', async () => {
    const { api_key: key } = await stage.newKey(stage.ownerKey);
    await addRoute(key);
    const lists = await Promise.all(
      ['keys', 'routes', 'sources', 'channels'].map((path) =>
        stage.made<{ items: { maker: string }[] }>(stage.ownerKey, 'GET', `/v1/${path}`),
      ),
    );
    expect(lists.map(({ items }) => items.map(({ maker }) => maker))).toEqual([
      ['a***@example.com', expect.stringMatching(/^key /)],
      ['key side door'],
      [expect.stringMatching(/^key /)],
      ['the owner'],
    ]);
  });
});

/** Of the mails that told of something new. */
async function subjects(): Promise<string[]> {
  await maintain(stage.people.project, stage.clock);
  return mailsOf(stage.gateway.folder)
    .map((mail) => /^Subject: (.*(?:\r?\n[ \t].*)*)/m.exec(mail)?.[1] ?? '')
    .filter((subject) => subject.includes('new '));
}

describe('an owner', () => {
  it('is told once of each new admin key, route and member, but not of their own in the browser', async () => {
    await stage.newKey(stage.ownerKey);
    await stage.newKey(stage.ownerKey, ['inbox:read']);
    await addRoute(stage.ownerKey);
    await joined('vera@example.com', 'viewer');
    await joined('ben@example.com', 'admin');
    await expect.poll(subjects).toHaveLength(3);
    const told = (await subjects()).map((subject) => subject.replace(/^.*new /, 'new '));
    const [first, ...others] = told.map((subject) => subject.split(':')[0]);
    expect([first, ...others].filter((what) => what === 'new key with admin')).toHaveLength(2);
    expect([first, ...others]).toContain('new route');
  });
});

const expiring = () =>
  stage.made<Key>(stage.ownerKey, 'POST', '/v1/keys', {
    name: 'for a day',
    scopes: ['admin', 'inbox:read'],
    expires_at: new Date(stage.clock.now() + DAY_MS).toISOString(),
  });
const dayPasses = async (): Promise<void> => {
  stage.clock.advance(DAY_MS);
  await maintain(stage.people.project, stage.clock);
};
const shown = (id: string) =>
  stage.made<{ status: string; maker: string }>(stage.ownerKey, 'GET', `/v1/keys/${id}`);

describe('a key whose time is up', () => {
  it('ends with its routes and keys, and still says that it expired', async () => {
    const { id, api_key: key } = await expiring();
    const child = await stage.newKey(key);
    await addRoute(key);
    await dayPasses();
    const { items } = await stage.made<{
      items: { enabled: boolean; disabled_reason: string; maker: string }[];
    }>(stage.ownerKey, 'GET', '/v1/routes');
    expect(items).toMatchObject([{ enabled: false, maker: 'key for a day (expired)' }]);
    expect(items[0]?.disabled_reason).toContain('the key that made it expired');
    expect([(await shown(id)).status, (await shown(child.id)).status]).toEqual([
      'expired',
      'revoked',
    ]);
    expect(await stage.reads(child.api_key)).toBe(false);
  });

  it('leaves the keys that it made where one is the last with admin, and nothing else', async () => {
    const { api_key: key } = await expiring();
    const child = await stage.newKey(key);
    await addRoute(key);
    const own = await ownId(stage.ownerKey);
    await stage.made(stage.ownerKey, 'DELETE', `/v1/keys/${own}?keep=true`);
    await dayPasses();
    expect(await stage.reads(child.api_key)).toBe(true);
    const { items } = await stage.made<{ items: { enabled: boolean }[] }>(
      child.api_key,
      'GET',
      '/v1/routes',
    );
    expect(items).toMatchObject([{ enabled: false }]);
  });
});

describe('the last admin key', () => {
  it('says a way that works, because a key that it makes would end with it', async () => {
    const id = await ownId(stage.ownerKey);
    const { body } = await revoke(id);
    expect(body.error?.hint).toContain('Sign in for another admin key first');
    expect(body.error?.hint).toContain(`svc key rotate ${id} --end-made`);
  });
});

describe('a key that another key made', () => {
  it('neither ends the key that made it, nor gets the secret of a key that would outlive it', async () => {
    const { id: leaked, api_key: key } = await stage.newKey(stage.ownerKey, SCOPES);
    const { id: other } = await stage.newKey(stage.ownerKey, ['inbox:read']);
    const { id: child } = await stage.newKey(key, ['inbox:read']);
    const own = await ownId(stage.ownerKey);
    const rotate = (id: string, by = key) => stage.call(by, 'POST', `/v1/keys/${id}/rotate`, {});
    expect((await rotate(own)).body).toMatchObject({ error: { code: 'SCOPE_MISSING' } });
    expect((await rotate(other)).body).toMatchObject({ error: { code: 'SCOPE_MISSING' } });
    expect((await revoke(own, key)).body.error?.code).toBe('SCOPE_MISSING');
    expect((await rotate(child)).status).toBe(201);
    expect((await rotate(leaked)).status).toBe(201);
    expect((await rotate(other, stage.ownerKey)).status).toBe(201);
    expect(await stage.reads(stage.ownerKey)).toBe(true);
  });
});
