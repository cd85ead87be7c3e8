import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readMailConfig } from '../../../../gateway/mail/read-mail-config.ts';
import { FakeSmtp } from '../../../helpers/fake-smtp.ts';
import { FakeClock, TestGateway } from '../../../helpers/gateway.ts';
import { Contract } from '../../../surface/contract.ts';
import { wholeDocument } from '../../../surface/doors/document.ts';
import { csrfOf, Person, post } from './person.ts';

// What signing in answers is what the document promises of it.

const contract = new Contract(wholeDocument());
const clock = new FakeClock();
let gateway: TestGateway;
let ana: Person;
beforeAll(async () => {
  gateway = await TestGateway.start({ clock, signIn: true });
  ana = new Person(gateway, 'ana@example.com');
});
afterAll(() => gateway.stop());

const PATHS = {
  auth_start: '/v1/auth/start',
  auth_poll: '/v1/auth/poll',
  auth_key_create: '/v1/auth/keys',
  project_create: '/v1/projects',
} as const;

/** The code of an answer that is as promised, or `ok`. */
async function promised(
  name: keyof typeof PATHS,
  body: unknown,
  { to = gateway, key }: { to?: Pick<TestGateway, 'url'>; key?: string } = {},
): Promise<string> {
  const headers = key === undefined ? {} : { 'idempotency-key': key };
  const answer = await post(to, PATHS[name], body, { headers });
  expect(contract.faults(name, answer.status, answer.body)).toEqual([]);
  expect(contract.missingHeaders(name, answer.status, answer.headers)).toEqual([]);
  const sent = { method: 'POST', path: PATHS[name], carried: { body } };
  const requestFaults = answer.code === null ? contract.requestFaults(name, sent) : [];
  expect(requestFaults).toEqual([]);
  return answer.code ?? 'ok';
}

/** An answer of the page that is as promised. */
async function page(name: string, url: string, init: RequestInit = {}) {
  const response = await fetch(url, { redirect: 'manual', ...init });
  const { status, headers } = response;
  const text = (await response.text()) || undefined;
  const [type = ''] = (headers.get('content-type') ?? '').split(';');
  expect(contract.faults(name, status, text, type)).toEqual([]);
  expect(contract.missingHeaders(name, status, headers)).toEqual([]);
  return status;
}

function form(fields: Record<string, string>): RequestInit {
  return { method: 'POST', body: new URLSearchParams(fields) };
}

describe('every answer of signing in is as promised', () => {
  it('where it goes well', async () => {
    const email = { email: 'bob@example.com', client: { name: 'svc' } };
    expect(await promised('auth_start', email)).toBe('ok');
    const first = await ana.confirmed();
    expect(await promised('auth_poll', { login_id: first })).toBe('ok');
    const made = { login_id: first, name: 'Acme', slug: 'acme', key_name: 'first' };
    expect(await promised('project_create', made)).toBe('ok');
    const second = await ana.confirmed();
    const [project] = await ana.projects(second);
    const taken = { login_id: second, project_id: project?.id, scopes: ['disk'] };
    expect(await promised('auth_key_create', taken)).toBe('ok');
  });

  it('where it does not', async () => {
    clock.advance(3_600_000);
    expect(await promised('auth_start', {})).toBe('VALIDATION_FAILED');
    for (let n = 0; n < 5; n += 1) await promised('auth_start', { email: 'eve@example.com' });
    expect(await promised('auth_start', { email: 'eve@example.com' })).toBe('RATE_LIMITED');

    const { login_id } = await ana.start();
    const project = { login_id, name: 'Acme' };
    const key = { login_id, project_id: gateway.projectId };
    expect(await promised('auth_poll', { login_id })).toBe('LOGIN_NOT_VERIFIED');
    expect(await promised('auth_poll', { login_id })).toBe('RATE_LIMITED');
    expect(await promised('project_create', project)).toBe('LOGIN_NOT_VERIFIED');
    expect(await promised('auth_key_create', key)).toBe('LOGIN_NOT_VERIFIED');
    clock.advance(900_000);
    expect(await promised('auth_poll', { login_id })).toBe('LOGIN_EXPIRED');
    expect(await promised('project_create', project)).toBe('LOGIN_EXPIRED');
    expect(await promised('auth_key_create', key)).toBe('LOGIN_EXPIRED');

    const confirmed = await ana.confirmed();
    const taken = { login_id: confirmed, name: 'Acme', slug: 'acme' };
    expect(await promised('project_create', taken)).toBe('SLUG_TAKEN');
    expect(await promised('auth_key_create', { ...key, login_id: confirmed })).toBe('NOT_FOUND');
    const other = { login_id: confirmed, name: 'Other' };
    const codes = await Promise.all([
      promised('project_create', other, { key: 'once' }),
      promised('project_create', other, { key: 'once' }),
    ]);
    expect(codes.toSorted()).toEqual(['IDEMPOTENCY_IN_PROGRESS', 'ok']);
    clock.advance(1000);
    expect(await promised('auth_poll', { login_id: confirmed })).toBe('LOGIN_CONSUMED');
    expect(await promised('project_create', taken)).toBe('LOGIN_CONSUMED');
    const again = { ...key, login_id: confirmed };
    expect(await promised('auth_key_create', again)).toBe('LOGIN_CONSUMED');
  });

  it('where no mail goes out', async () => {
    const smtp = await FakeSmtp.start({ script: { mail: { reply: '451 Later' } } });
    const place = { kind: 'smtp', host: '127.0.0.1', port: smtp.port, tls: 'off' } as const;
    const mail = { ...readMailConfig({}), ...place, credentials: null, from: 'svc@example.com' };
    const to = await TestGateway.start({ signIn: true, messaging: { mail, telegram: null } });
    try {
      const body = { email: 'ana@example.com' };
      expect(await promised('auth_start', body, { to })).toBe('EMAIL_DELIVERY_FAILED');
    } finally {
      await to.stop();
      await smtp.close();
    }
  });

  it('on the page of the link', async () => {
    const { link, user_code: code } = await ana.start();
    const csrf = await csrfOf(link);
    expect(await page('login_page', link)).toBe(200);
    expect(await page('login_page', `${gateway.url}/s/unknown`)).toBe(404);
    expect(await page('login_page', link, { method: 'DELETE' })).toBe(405);
    expect(await page('login_confirm', link, form({ csrf: 'x' }))).toBe(403);
    expect(await page('login_confirm', link, form({ csrf }))).toBe(400);
    const text = { method: 'POST', body: 'x' };
    expect(await page('login_confirm', link, text)).toBe(415);
    const long = form({ csrf, verb: 'x'.repeat(20_000) });
    expect(await page('login_confirm', link, long)).toBe(413);
    expect(await page('login_confirm', link, form({ csrf, verb: 'confirm', code }))).toBe(303);
  });
});
