import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FULL_SCOPES } from '../../../../shared/lib/scopes.ts';
import { FakeClock, TestGateway } from '../../../helpers/gateway.ts';
import { mailsOf } from '../../../helpers/outbox.ts';
import { parsedMail, valuesOf } from '../../mail/parsed-mail.ts';
import { Person, post } from './person.ts';

let clock: FakeClock;
let gateway: TestGateway;
let ana: Person;
beforeEach(async () => {
  clock = new FakeClock();
  gateway = await TestGateway.start({ clock, signIn: true });
  ana = new Person(gateway, 'Ana@EXAMPLE.com');
});
afterEach(() => gateway.stop());

describe('signing in', () => {
  it('leads from an address to a project, its first key and its owner', async () => {
    const started = await ana.start({ name: 'svc', version: '0.1.0', host: 'laptop' });
    expect(started).toMatchObject({
      email_masked: 'A***@example.com',
      expires_in: 900,
      expires_at: '2026-01-02T03:19:05.000Z',
      interval: 3,
    });
    expect(started.user_code).toMatch(/^[A-Z]{3,6}-[A-Z]{3,6}-\d\d$/);
    expect(started.login_id).toMatch(/^lgn_[0-9A-Za-z]{32}$/);

    const waiting = await ana.poll(started.login_id);
    expect([waiting.status, waiting.code, waiting.details]).toEqual([
      409,
      'LOGIN_NOT_VERIFIED',
      { retry_after: 3 },
    ]);
    expect(waiting.headers.get('retry-after')).toBe('3');

    clock.advance(60_000);
    const page = await ana.confirm(started);
    expect(page).toContain('Signed in Your terminal continues.');
    const confirmed = await ana.poll(started.login_id);
    expect([confirmed.status, confirmed.body]).toEqual([
      200,
      {
        status: 'confirmed',
        email_masked: 'A***@example.com',
        expires_at: '2026-01-02T03:20:06.000Z',
        projects: [],
      },
    ]);

    const made = await ana.create(started.login_id, { name: 'Ünïcorn & Co.' });
    expect(made.status).toBe(201);
    expect(made.headers.get('cache-control')).toBe('no-store');
    expect(made.body).toEqual({
      project: {
        id: expect.stringMatching(/^prj_/),
        slug: 'unicorn-co',
        name: 'Ünïcorn & Co.',
        created_at: '2026-01-02T03:05:06.000Z',
      },
      key: {
        id: expect.stringMatching(/^key_/),
        name: 'sign-in',
        scopes: [...FULL_SCOPES],
        created_at: '2026-01-02T03:05:06.000Z',
      },
      api_key: expect.stringMatching(/^svc_live_/),
      channel: {
        id: expect.stringMatching(/^chn_/),
        kind: 'email',
        label: 'owner',
        address: 'A***@example.com',
        status: 'active',
        owner: true,
        created_by: null,
        maker: 'the owner',
        person_of: null,
        created_at: '2026-01-02T03:05:06.000Z',
        verified_at: '2026-01-02T03:05:06.000Z',
        activated_at: '2026-01-02T03:05:06.000Z',
        last_used_at: null,
      },
      urls: { api: gateway.url, mcp: `${gateway.url}/mcp`, hooks: gateway.url },
    });

    clock.advance(1000);
    expect((await ana.poll(started.login_id)).code).toBe('LOGIN_CONSUMED');
    expect((await ana.create(started.login_id)).code).toBe('LOGIN_CONSUMED');
  });

  it('gives a key that everything works with, and a ledger that begins with the project', async () => {
    const { api_key: key, project, key: shown, channel } = await ana.project();
    const who = await gateway.call('GET', '/v1/whoami', { key });
    expect(who).toMatchObject({
      status: 200,
      body: {
        project: { id: project.id, slug: 'acme-shop', name: 'Acme Shop' },
        key: { id: shown.id, name: 'sign-in', expires_at: null },
        scopes: [...FULL_SCOPES],
      },
    });
    const keys = await gateway.call<{ items: object[] }>('GET', '/v1/keys', { key });
    expect(keys.body.items).toMatchObject([
      { id: shown.id, last4: key.slice(-4), created_by: expect.stringMatching(/^acc_/) },
    ]);
    expect((await gateway.call('PUT', '/v1/kv/a', { key, body: 1 })).status).toBe(200);
    expect(
      (await gateway.call('POST', '/v1/keys', { key, body: { name: 'b', scopes: ['disk'] } }))
        .status,
    ).toBe(201);

    const entries = await gateway.call<{ items: { op: string; subject: string }[] }>(
      'GET',
      '/v1/ledger',
      { key },
    );
    const oldest = entries.body.items.toReversed().slice(0, 3);
    expect(oldest.map(({ op, subject }) => [op, subject])).toEqual([
      ['project.created', project.id],
      ['channel.owner_set', channel.id],
      ['key.created', shown.id],
    ]);
    const verified = await gateway.call('POST', '/v1/ledger/verify', { key, body: {} });
    expect(verified.body).toMatchObject({ ok: true });
  });

  it('asks the owner of the new project by mail, at the address that signed in', async () => {
    const { api_key: key } = await ana.project();
    const asked = await gateway.call('POST', '/v1/requests', {
      key,
      body: { action: 'deploy', summary: 'Deploy v2', wait_seconds: 0 },
    });
    expect(asked.body).toMatchObject({ status: 'pending' });
    const mail = await mailAbout('[acme-shop]');
    expect(valuesOf(mail, 'to')).toEqual(['Ana@example.com']);
  });

  it('gives a key on another machine, for the same project', async () => {
    const { project, api_key: first } = await ana.project();
    const loginId = await ana.confirmed();
    const { id, slug, name } = project;
    expect(await ana.projects(loginId)).toEqual([{ id, slug, name }]);
    const taken = await ana.takeKey(loginId, {
      project_id: id,
      scopes: ['inbox:read', 'disk', 'disk'],
      key_name: 'work laptop',
    });
    expect(taken.status).toBe(201);
    expect(taken.body).toEqual({
      project,
      key: {
        id: expect.stringMatching(/^key_/),
        name: 'work laptop',
        scopes: ['inbox:read', 'disk'],
        created_at: '2026-01-02T03:04:07.000Z',
      },
      api_key: expect.stringMatching(/^svc_live_/),
      urls: { api: gateway.url, mcp: `${gateway.url}/mcp`, hooks: gateway.url },
    });
    const key = String(taken.body['api_key']);
    expect((await gateway.call('GET', '/v1/inbox', { key })).status).toBe(200);
    expect((await gateway.call('GET', '/v1/channels', { key })).status).toBe(403);
    clock.advance(1000);
    expect((await ana.poll(loginId)).code).toBe('LOGIN_CONSUMED');

    const all = await ana.key(id);
    expect(all.key).toMatchObject({ name: 'sign-in', scopes: [...FULL_SCOPES] });
    const entries = await gateway.call<{ items: { op: string; outcome: string }[] }>(
      'GET',
      `/v1/ledger?subject=${all.key.id}`,
      { key: first },
    );
    expect(entries.body.items).toMatchObject([{ op: 'key.created', outcome: 'ok', code: null }]);
  });

  it('knows an account again whatever the writing of its domain', async () => {
    const { project } = await ana.project();
    const again = new Person(gateway, 'Ana@example.COM');
    expect(await again.projects(await again.confirmed())).toMatchObject([{ id: project.id }]);
    const other = new Person(gateway, 'bob@example.com');
    expect(await other.projects(await other.confirmed())).toEqual([]);
  });
});

describe('a gateway for one machine', () => {
  it('has no sign-in', async () => {
    const local = await TestGateway.start();
    try {
      for (const path of ['/v1/auth/start', '/v1/auth/poll', '/v1/auth/keys', '/v1/projects']) {
        expect([path, (await post(local, path, {})).code]).toEqual([path, 'NOT_FOUND']);
      }
      expect((await fetch(`${local.url}/s/${'a'.repeat(40)}`)).status).toBe(404);
      const document = await fetch(`${local.url}/v1/openapi.json`);
      expect(await document.text()).not.toContain('/v1/auth/start');
    } finally {
      await local.stop();
    }
    const hosted = await fetch(`${gateway.url}/v1/openapi.json`);
    expect(await hosted.text()).toContain('/v1/auth/start');
  });
});

async function mailAbout(words: string) {
  for (let round = 0; round < 500; round += 1) {
    const found = mailsOf(gateway.folder)
      .map(parsedMail)
      .find((mail) => valuesOf(mail, 'subject').some((subject) => subject.includes(words)));
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`No mail about ${words} came.`);
}
