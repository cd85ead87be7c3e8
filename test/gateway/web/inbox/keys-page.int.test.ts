import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock, TestGateway } from '../../../helpers/gateway.ts';
import { placeOf } from './places.ts';
import { WebVisitor } from './web-visitor.ts';

const OWNER = 'ana@example.com';
const HOUR_MS = 3_600_000;
const KEY = /svc_live_[0-9A-Za-z]+/;

interface Key {
  readonly id: string;
  readonly name: string;
  readonly scopes: string[];
  readonly disk_prefixes: string[] | null;
  readonly last4: string;
  readonly expires_at: string | null;
  readonly revoked_at: string | null;
}

const clock = new FakeClock();
let gateway: TestGateway;
let owner: WebVisitor;
let list: string;

beforeAll(async () => {
  gateway = await TestGateway.start({ clock });
  await gateway.gateway.setOwner(gateway.projectId, OWNER);
  list = await placeOf(gateway, 'keys');
});
afterAll(() => gateway.stop());
beforeEach(async () => {
  // No more than so many links are mailed an hour.
  clock.advance(HOUR_MS);
  owner = await WebVisitor.asOwner(gateway, OWNER);
});

async function keys(): Promise<Key[]> {
  return (await gateway.call<{ items: Key[] }>('GET', '/v1/keys?limit=100')).body.items;
}

async function make(name: string, ...scopes: string[]): Promise<Key & { api_key: string }> {
  const body = { name, scopes };
  return (await gateway.call<Key & { api_key: string }>('POST', '/v1/keys', { body })).body;
}

const whoami = async (key: string) => (await gateway.call('GET', '/v1/whoami', { key })).status;

/** A form with check boxes: one name, several values. */
function boxes(...scopes: string[]): string {
  return scopes.map((scope) => `&scopes=${encodeURIComponent(scope)}`).join('');
}

function send(visitor: WebVisitor, path: string, form: string) {
  return visitor.post(path, { body: `csrf=${visitor.csrf}&${form}` });
}

describe('a new key', () => {
  it('is shown once, on the page that answers, and nowhere else', async () => {
    const form = `${list}?add`;
    expect((await owner.get(form)).html).toContain('value="inbox:read" checked');
    const made = await send(owner, form, `name=ci&expires_at=30${boxes('inbox:read', 'disk')}`);
    expect(made.status).toBe(200);
    expect(made.headers.get('cache-control')).toBe('no-store');
    const secret = KEY.exec(made.html)?.[0] ?? '';
    expect(made.html).toContain('Copy it now');
    expect(made.html).toContain(`SVC_GATEWAY=${gateway.url}`);
    expect(made.html).toContain('svc mcp install claude-code');
    const [key] = (await keys()).filter(({ name }) => name === 'ci');
    expect(key).toMatchObject({ scopes: ['inbox:read', 'disk'], last4: secret.slice(-4) });
    expect(key?.expires_at).toBe(new Date(clock.now() + 30 * 24 * HOUR_MS).toISOString());
    expect((await gateway.call('GET', '/v1/whoami', { key: secret })).status).toBe(200);
    for (const path of [list, `${list}/${key?.id}`]) {
      const { html } = await owner.get(path);
      expect(html).toContain(secret.slice(-4));
      expect(html).not.toMatch(KEY);
    }
  });

  it('can be limited to a part of the disk, which its pages show', async () => {
    const form = `${list}?add`;
    await owner.get(form);
    const typed = `name=team&disk_prefixes=${encodeURIComponent(' team-a/, x')}`;
    const made = await send(owner, form, `${typed}${boxes('disk')}`);
    expect(made.html).toContain('team-a/, x');
    const [key] = (await keys()).filter(({ name }) => name === 'team');
    expect(key?.disk_prefixes).toEqual(['team-a/', 'x']);
    for (const path of [list, `${list}/${key?.id}`]) {
      expect((await owner.get(path)).html).toContain('team-a/, x');
    }
    const wrong = await send(owner, form, `${typed}${boxes('admin')}`);
    expect(wrong.status).toBe(400);
    expect(wrong.html).toContain('A key with admin can');
    expect(wrong.html).toContain('value=" team-a/, x"');
  });

  it('of a hosted gateway is stored by a sign-in', async () => {
    const hosted = await TestGateway.start({ clock, signIn: true });
    const visitor = await WebVisitor.withKey(hosted);
    const form = `${await placeOf(hosted, 'keys')}?add`;
    await visitor.get(form);
    const { html } = await send(visitor, form, `name=bob${boxes('disk')}`);
    expect(html).toContain(`svc login --gateway ${hosted.url} --with-key -`);
    await hosted.stop();
  });

  it.each([
    ['', boxes('disk'), 'Say what it’s for.'],
    ['named', '', 'Choose at least one.'],
    ['x'.repeat(101), boxes('disk'), 'at most 100'],
    ['a\u0007b', boxes('disk'), 'Control characters are not allowed.'],
  ])('is not made of what is wrong: %j', async (name, scopes, problem) => {
    const before = await keys();
    await owner.get(`${list}?add`);
    const { status, html } = await send(
      owner,
      `${list}?add`,
      `name=${encodeURIComponent(name)}&expires_at=7${scopes}`,
    );
    expect(status).toBe(400);
    expect(html).toContain(problem);
    expect(html).toContain('aria-invalid="true"');
    expect(html).toContain('value="7" selected');
    expect(html.includes('value="disk" checked')).toBe(scopes !== '');
    expect(await keys()).toEqual(before);
  });

  it('is refused beyond the limit, with the reason', async () => {
    const small = await TestGateway.start({ clock });
    for (let at = 1; at < 20; at += 1) await small.key('disk');
    const visitor = await WebVisitor.withKey(small);
    const form = `${await placeOf(small, 'keys')}?add`;
    await visitor.get(form);
    const { status, html } = await send(visitor, form, `name=more${boxes('disk')}`);
    expect(status).toBe(409);
    expect(html).toContain('limit of active keys');
    expect(html).toContain('value="more"');
    await small.stop();
  });

  it('cannot be longer than a form', async () => {
    await owner.get(`${list}?add`);
    const { status } = await send(owner, `${list}?add`, `name=${'W'.repeat(200_000)}`);
    expect(status).toBe(413);
  });
});

describe('a key', () => {
  it('is revoked in two steps', async () => {
    const { id, api_key: secret } = await make('going', 'disk');
    const path = `${list}/${id}`;
    expect((await owner.get(path)).html).not.toContain('value="revoke"');
    expect((await owner.get(`${path}?step=revoke`)).html).toContain('Yes, revoke it');
    expect((await owner.post(path, { fields: {} })).status).toBe(400);
    expect((await gateway.call('GET', '/v1/whoami', { key: secret })).status).toBe(200);
    await owner.get(`${path}?step=revoke`);
    expect((await owner.post(path, { fields: { act: 'revoke' } })).location).toBe(list);
    expect((await gateway.call('GET', '/v1/whoami', { key: secret })).status).toBe(401);
    const { html } = await owner.get(path);
    expect(html).toContain('It no longer works.');
    expect(html).not.toContain('step=');
  });

  it('that was revoked while what it made was kept has a button that ends the rest', async () => {
    const maker = await make('maker', 'admin', 'inbox:read');
    const body = { name: 'made', scopes: ['inbox:read'] };
    const made = await gateway.call<{ api_key: string }>('POST', '/v1/keys', {
      body,
      key: maker.api_key,
    });
    const page = `${list}/${maker.id}`;
    expect((await owner.get(page)).html).not.toContain('End what it made');
    await send(owner, page, 'act=revoke&made=keep');
    expect(await whoami(maker.api_key)).toBe(401);
    expect(await whoami(made.body.api_key)).toBe(200);
    expect((await owner.get(page)).html).toContain('End what it made');
    const asked = await owner.get(`${page}?step=end`);
    expect(asked.html).toContain('End what this key made?');
    expect(asked.html).toMatch(/What ends[^]*made/);
    const { html } = await send(owner, page, 'act=end');
    expect(html).toContain('Ended too');
    expect(await whoami(made.body.api_key)).toBe(401);
    expect((await owner.get(page)).html).not.toContain('End what it made');
  });

  it('that is the last with admin stays, and the page says why', async () => {
    const [admin] = await keys();
    const path = `${list}/${admin?.id}`;
    await owner.get(`${path}?step=revoke`);
    const { status, html } = await owner.post(path, { fields: { act: 'revoke' } });
    expect(status).toBe(409);
    expect(html).toContain('This is the last active admin key of the project.');
    expect(html).toContain('To keep this key with a new secret');
    expect((await keys())[0]?.revoked_at).toBeNull();
  });

  it('gets a new secret, shown once; the one before goes on as long as was chosen', async () => {
    const { id, api_key: before } = await make('rotating', 'disk');
    const path = `${list}/${id}`;
    await owner.get(`${path}?step=rotate`);
    const { status, html } = await owner.post(path, { fields: { act: 'rotate', grace: '3600' } });
    expect(status).toBe(200);
    const secret = KEY.exec(html)?.[0] ?? '';
    expect(secret).not.toBe(before);
    expect([await whoami(secret), await whoami(before)]).toEqual([200, 200]);
    clock.advance(HOUR_MS + 1);
    expect([await whoami(secret), await whoami(before)]).toEqual([200, 401]);
  });

  it('that only reads the disk can be rotated by the owner', async () => {
    const { id, api_key: before } = await make('reading', 'disk:read');
    const path = `${list}/${id}`;
    expect((await owner.get(path)).html).toContain('step=rotate');
    await owner.get(`${path}?step=rotate`);
    const { status, html } = await owner.post(path, { fields: { act: 'rotate', grace: '0' } });
    expect(status).toBe(200);
    expect([await whoami(KEY.exec(html)?.[0] ?? ''), await whoami(before)]).toEqual([200, 401]);
  });

  it('that gives itself a new secret ends its session with the one before, and says so', async () => {
    const { id, api_key: before } = await make('own', 'disk');
    const path = `${list}/${id}`;
    const OWN = 'This session is one of them';
    expect((await owner.get(`${path}?step=rotate`)).html).not.toContain(OWN);
    const visitor = await WebVisitor.withKey(gateway, before);
    expect((await visitor.get(`${path}?step=rotate`)).html).toContain(OWN);
    const { html } = await visitor.post(path, { fields: { act: 'rotate', grace: '0' } });
    expect(html).toMatch(KEY);
    clock.advance(59_000);
    expect((await visitor.get(path)).status).toBe(200);
    clock.advance(1000);
    expect((await visitor.get(path)).status).toBe(401);
  });

  it.each(['1e9', '-1', 'soon'])(
    'keeps its secret for a grace that cannot be: %s',
    async (grace) => {
      const { id, last4 } = await make('kept', 'disk');
      const path = `${list}/${id}`;
      await owner.get(`${path}?step=rotate`);
      const { status } = await owner.post(path, { fields: { act: 'rotate', grace } });
      expect(status).toBe(400);
      expect((await keys()).find((one) => one.id === id)?.last4).toBe(last4);
    },
  );

  it('that is none is not there', async () => {
    for (const id of ['key_01j9z3k4m5n6p7q8r9s0t1v2w3', 'nonsense']) {
      expect((await owner.get(`${list}/${id}`)).status).toBe(404);
    }
  });
});

describe('a session of a key without admin', () => {
  it('sees itself alone, and no button for more', async () => {
    const { api_key: secret, id } = await make('small', 'disk');
    const visitor = await WebVisitor.withKey(gateway, secret);
    const { html } = await visitor.get(list);
    expect(html).toContain('This session');
    expect(html).not.toContain('Create key');
    expect(html.match(/data-row/g)).toHaveLength(1);
    expect((await visitor.get(`${list}?add`)).html).not.toContain('name="scopes"');
    const [admin] = await keys();
    const other = `${list}/${admin?.id}`;
    expect((await visitor.get(other)).status).toBe(404);
    await visitor.get(list);
    expect((await visitor.post(other, { fields: { act: 'revoke' } })).status).toBe(404);
    const form = { fields: { name: 'x', scopes: 'disk' } };
    expect((await visitor.post(`${list}?add`, form)).location).toBe(list);
    expect((await keys()).some(({ name }) => name === 'x')).toBe(false);
    expect((await visitor.get(`${list}/${id}?step=revoke`)).html).toContain('This session was');
    await visitor.post(`${list}/${id}`, { fields: { act: 'revoke' } });
    expect((await visitor.get(list)).status).toBe(401);
  });

  it('with admin is offered no scope that it does not have', async () => {
    const { api_key: secret } = await make('half', 'admin', 'disk');
    const visitor = await WebVisitor.withKey(gateway, secret);
    const { html } = await visitor.get(`${list}?add`);
    expect([...html.matchAll(/name="scopes" value="([^"]*)"/g)].map(([, one]) => one)).toEqual([
      'admin',
      'disk',
      'disk:read',
    ]);
    const [strong] = (await keys()).filter(({ scopes }) => scopes.length === 7);
    expect((await visitor.get(`${list}/${strong?.id}`)).html).not.toContain('step=rotate');
    await visitor.get(list);
    const forged = { fields: { act: 'rotate', grace: '0' } };
    expect((await visitor.post(`${list}/${strong?.id}`, forged)).status).toBe(403);
  });
});
