import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock, TestGateway } from '../../../helpers/gateway.ts';
import { Person } from './person.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

let clock: FakeClock;
let gateway: TestGateway;
let ana: Person;
let bob: Person;
beforeEach(async () => {
  clock = new FakeClock();
  gateway = await TestGateway.start({ clock, signIn: true });
  ana = new Person(gateway, 'ana@example.com');
  bob = new Person(gateway, 'bob@example.com');
});
afterEach(() => gateway.stop());

const whoami = (key: string) => gateway.call('GET', '/v1/whoami', { key });
const slugOf = ({ body }: { body: Record<string, unknown> }) =>
  (body['project'] as { slug: string }).slug;

/** Sign-ins of one person, as many as an hour allows. */
async function confirmedLogins(person: Person, count: number): Promise<string[]> {
  clock.advance(HOUR_MS);
  const logins: string[] = [];
  for (let n = 0; n < count; n += 1) logins.push(await person.confirmed());
  return logins;
}

async function projects(person: Person, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1) ids.push((await person.project()).project.id);
  return ids;
}

describe('a slug', () => {
  it('is made of the name, and varied where that is taken', async () => {
    expect((await ana.project()).project.slug).toBe('acme-shop');
    expect((await ana.project()).project.slug).toBe('acme-shop-2');
    expect((await bob.project()).project.slug).toBe('acme-shop-3');
    expect((await bob.project({ name: '東京' })).project.slug).toBe('project');
    expect((await bob.project({ name: '🦄' })).project.slug).toBe('project-2');
  });

  it('that was given and is taken refuses the project, and leaves the sign-in', async () => {
    await ana.project({ slug: 'acme' });
    const login = await bob.confirmed();
    const refused = await bob.create(login, { slug: 'acme' });
    expect([refused.status, refused.code]).toEqual([409, 'SLUG_TAKEN']);
    const made = await bob.create(login, { slug: 'acme2' });
    expect([made.status, slugOf(made)]).toEqual([201, 'acme2']);
  });

  it('goes to one of two who want it at once', async () => {
    const logins = [await ana.confirmed(), await bob.confirmed()] as const;
    const answers = await Promise.all([
      ana.create(logins[0], { slug: 'acme' }),
      bob.create(logins[1], { slug: 'acme' }),
    ]);
    expect(new Set(answers.map(({ code }) => code))).toEqual(new Set([null, 'SLUG_TAKEN']));
    const again = await Promise.all([ana.create(logins[0]), bob.create(logins[1])]);
    expect(new Set(again.map(({ code }) => code))).toEqual(new Set([null, 'LOGIN_CONSUMED']));
  });
});

describe('a project', () => {
  it('is refused with all that is wrong, and the sign-in stays', async () => {
    const login = await ana.confirmed();
    const wrong: [Record<string, unknown>, string[]][] = [
      [{ name: '' }, ['name']],
      [{ name: '  ' }, ['name']],
      [
        { name: 'a\r\nb', slug: 'A B', key_name: '\u0000', more: 1 },
        ['name', 'slug', 'key_name', 'more'],
      ],
      [{ name: 'x'.repeat(101) }, ['name']],
      [{ name: '\ud83d' }, ['name']],
      [{ slug: '' }, ['slug']],
      [{ slug: '-a' }, ['slug']],
      [{ slug: 'a-' }, ['slug']],
      [{ slug: 'a--b' }, ['slug']],
      [{ slug: 'ä' }, ['slug']],
      [{ slug: '../a' }, ['slug']],
      [{ slug: 'a\n' }, ['slug']],
      [{ slug: 'a'.repeat(41) }, ['slug']],
      [{ login_id: 7 }, ['login_id']],
    ];
    for (const [body, paths] of wrong) {
      const answer = await ana.create(login, body);
      const fields = answer.details?.['fields'] as { path: string }[];
      expect([answer.code, fields.map(({ path }) => path)]).toEqual(['VALIDATION_FAILED', paths]);
    }
    const made = await ana.create(login, { name: '\u202eevil\u200b <b>' });
    expect([made.status, slugOf(made)]).toEqual([201, 'evil-b']);
  });

  it('comes of one sign-in once, also when it is asked for at once', async () => {
    const login = await ana.confirmed();
    const answers = await Promise.all(Array.from({ length: 8 }, () => ana.create(login)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ code }) => code === 'LOGIN_CONSUMED')).toHaveLength(7);
    expect(await ana.projects(await ana.confirmed())).toHaveLength(1);
  });

  it('is one of five that an account may have', async () => {
    await projects(ana, 5);
    clock.advance(HOUR_MS);
    const login = await ana.confirmed();
    const refused = await ana.create(login);
    expect([refused.status, refused.code]).toEqual([409, 'PROJECT_LIMIT_REACHED']);
    const [first] = await ana.projects(login);
    expect((await ana.takeKey(login, { project_id: first?.id })).status).toBe(201);
    expect((await bob.project()).project.slug).toBe('acme-shop-6');
  });

  it('is one of five also when many are made at once', async () => {
    await projects(ana, 3);
    const logins = await confirmedLogins(ana, 4);
    const answers = await Promise.all(logins.map((login) => ana.create(login)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(2);
    expect(answers.filter(({ code }) => code === 'PROJECT_LIMIT_REACHED')).toHaveLength(2);
  });

  it('needs a sign-in that was confirmed', async () => {
    const { login_id } = await ana.start();
    const early = await ana.create(login_id);
    expect([early.status, early.code, early.details]).toEqual([
      409,
      'LOGIN_NOT_VERIFIED',
      { retry_after: 3 },
    ]);
    const key = await ana.takeKey(login_id, { project_id: gateway.projectId });
    expect(key.code).toBe('LOGIN_NOT_VERIFIED');
  });
});

describe('a key for a project', () => {
  it('is for those of the account alone; all others are not there', async () => {
    const { project } = await ana.project();
    const login = await bob.confirmed();
    const foreign = [project.id, gateway.projectId, 'prj_0000000000000000'];
    for (const project_id of foreign) {
      const refused = await bob.takeKey(login, { project_id });
      expect([refused.status, refused.text.includes('Acme')]).toEqual([404, false]);
      expect(refused.code).toBe('NOT_FOUND');
    }
    expect(await bob.projects(login)).toEqual([]);
    expect((await bob.create(login)).status).toBe(201);
  });

  it('is refused with all that is wrong', async () => {
    const login = await ana.confirmed();
    const wrong: [Record<string, unknown>, string[]][] = [
      [{}, ['project_id']],
      [{ project_id: '../..' }, ['project_id']],
      [{ project_id: 'prj_0000000000000000', scopes: [], more: 1 }, ['scopes', 'more']],
      [{ project_id: 'prj_0000000000000000', scopes: ['root'] }, ['scopes[0]']],
      [{ project_id: 'prj_0000000000000000', key_name: 'a\nb' }, ['key_name']],
    ];
    for (const [body, paths] of wrong) {
      const answer = await ana.takeKey(login, body);
      const fields = answer.details?.['fields'] as { path: string }[];
      expect([answer.code, fields.map(({ path }) => path)]).toEqual(['VALIDATION_FAILED', paths]);
    }
  });

  it('is refused where there are twenty; the ledger tells, and the sign-in stays', async () => {
    const { project, api_key: key } = await ana.project();
    const body = { name: 'more', scopes: ['disk'] };
    const made: string[] = [];
    for (let n = 1; n < 20; n += 1) {
      const answer = await gateway.call<{ id: string }>('POST', '/v1/keys', { key, body });
      made.push(answer.body.id);
    }
    const login = await ana.confirmed();
    const full = await ana.takeKey(login, { project_id: project.id });
    expect([full.status, full.code]).toEqual([409, 'KEY_LIMIT_REACHED']);
    const entries = await gateway.call<{ items: object[] }>('GET', '/v1/ledger?limit=1', { key });
    expect(entries.body.items).toMatchObject([
      { op: 'key.created', outcome: 'error', code: 'KEY_LIMIT_REACHED' },
    ]);
    await gateway.call('DELETE', `/v1/keys/${made[0]}`, { key });
    expect((await ana.takeKey(login, { project_id: project.id })).status).toBe(201);
    const verified = await gateway.call('POST', '/v1/ledger/verify', { key, body: {} });
    expect(verified.body).toMatchObject({ ok: true });
  });
});

describe('a repeat with the same Idempotency-Key', () => {
  const once = { headers: { 'idempotency-key': 'once' } };

  it('is given the same project and the same key, for 15 minutes', async () => {
    const login = await ana.confirmed();
    const first = await ana.create(login, {}, once);
    const second = await ana.create(login, {}, once);
    expect([second.status, second.body]).toEqual([201, first.body]);
    const marks = [first, second].map(({ headers }) => headers.get('idempotent-replayed'));
    expect(marks).toEqual([null, 'true']);
    expect((await whoami(String(second.body['api_key']))).status).toBe(200);
    expect(await ana.projects(await ana.confirmed())).toHaveLength(1);
    clock.advance(15 * MINUTE_MS);
    expect((await ana.create(login, {}, once)).code).toBe('LOGIN_CONSUMED');
  });

  it('is given the same key of a project', async () => {
    const { project } = await ana.project();
    const login = await ana.confirmed();
    const body = { project_id: project.id, scopes: ['disk'] };
    const first = await ana.takeKey(login, body, once);
    const second = await ana.takeKey(login, body, once);
    expect([second.status, second.body]).toEqual([201, first.body]);
    const other = await ana.takeKey(login, { ...body, scopes: ['send'] }, once);
    expect(other.code).toBe('LOGIN_CONSUMED');
  });

  it('is told that the first is still running, and nothing is made twice', async () => {
    const login = await ana.confirmed();
    const answers = await Promise.all(Array.from({ length: 6 }, () => ana.create(login, {}, once)));
    const made = answers.filter(({ status }) => status === 201);
    expect(new Set(made.map(({ body }) => body['api_key'])).size).toBe(1);
    const others = answers.filter(({ status }) => status !== 201);
    expect(new Set(others.map(({ code }) => code))).toEqual(new Set(['IDEMPOTENCY_IN_PROGRESS']));
    expect(await ana.projects(await ana.confirmed())).toHaveLength(1);
  });

  it('is a use of its own for another sign-in, another body or another key', async () => {
    const [first = '', second = ''] = await confirmedLogins(ana, 2);
    expect((await ana.create(first, {}, once)).status).toBe(201);
    expect((await ana.create(first, { name: 'Other' }, once)).code).toBe('LOGIN_CONSUMED');
    const other = { headers: { 'idempotency-key': 'other' } };
    expect((await ana.create(first, {}, other)).code).toBe('LOGIN_CONSUMED');
    expect((await ana.create(second, {}, once)).status).toBe(201);
    const long = { headers: { 'idempotency-key': 'x'.repeat(256) } };
    expect((await ana.create(second, {}, long)).code).toBe('VALIDATION_FAILED');
  });
});
