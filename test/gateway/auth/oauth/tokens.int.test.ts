import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeClock, TestGateway } from '../../../helpers/gateway.ts';
import { Person } from '../sign-in/person.ts';
import { ANA, RawApp } from './app.ts';
import { Browser } from './browser.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

let clock: FakeClock;
let gateway: TestGateway;
let browser: Browser;
let adminKey: string;
let app: RawApp;
beforeAll(async () => {
  clock = new FakeClock();
  gateway = await TestGateway.start({ clock, signIn: true });
  adminKey = (await new Person(gateway, ANA).project({ name: 'Acme' })).api_key;
  browser = await Browser.signedIn(gateway, ANA);
  app = await RawApp.registered(gateway);
});
afterAll(() => gateway.stop());

/** Fresh tokens. */
async function granted(): Promise<Record<string, unknown>> {
  const { status, body } = await app.exchange(await app.code(browser));
  expect(status).toBe(200);
  return body;
}

interface Listed {
  readonly name: string;
  readonly revoked_at: string | null;
}

async function keys(): Promise<readonly Listed[]> {
  return (await gateway.call<{ items: Listed[] }>('GET', '/v1/keys', { key: adminKey })).body.items;
}

describe('a code', () => {
  it('gives tokens that no cache keeps', async () => {
    const code = await app.code(browser, { resource: `${gateway.url}/mcp/` });
    const { status, headers, body } = await app.exchange(code, { resource: `${gateway.url}/mcp` });
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(body).toMatchObject({ expires_in: 3600, token_type: 'Bearer' });
    expect(await app.works(body['access_token'])).toBe(true);
  });

  it('works once, and a second use ends what the first one gave', async () => {
    const code = await app.code(browser);
    const { body } = await app.exchange(code);
    expect(await app.works(body['access_token'])).toBe(true);
    const again = await app.exchange(code);
    expect([again.status, again.body]).toMatchObject([400, { error: 'invalid_grant' }]);
    expect(await app.works(body['access_token'])).toBe(false);
    expect((await app.refresh(body['refresh_token'])).body).toMatchObject({
      error: 'invalid_grant',
    });
    expect((await keys()).at(-1)).toMatchObject({ name: 'Raw', revoked_at: expect.any(String) });
  });

  it('that was used ends nothing without the client’s id and verifier, and what ended ends once', async () => {
    const code = await app.code(browser);
    const { body } = await app.exchange(code);
    const other = await RawApp.registered(gateway, { client_name: 'Other' });
    for (const fields of [{ code_verifier: 'x'.repeat(43) }, { client_id: other.clientId }]) {
      expect((await app.exchange(code, fields)).body).toMatchObject({ error: 'invalid_grant' });
      expect(await app.works(body['access_token'])).toBe(true);
    }
    await app.exchange(code);
    const ended = (await keys()).at(-1);
    clock.advance(MINUTE_MS);
    await app.exchange(code);
    expect((await keys()).at(-1)).toEqual(ended);
    const { body: ledger } = await gateway.call<{ items: { op: string }[] }>(
      'GET',
      '/v1/ledger?limit=2',
      { key: adminKey },
    );
    expect(ledger.items.map(({ op }) => op)).toEqual(['key.revoked', 'key.created']);
  });

  it.each([
    ['another PKCE verifier', { code_verifier: 'x'.repeat(43) }],
    ['another redirect_uri', { redirect_uri: 'http://127.0.0.1:8/callback' }],
    ['another client', { client_id: 'https://other.example/app.json' }],
  ])('is burned by %s', async (_what, fields) => {
    const before = (await keys()).length;
    const code = await app.code(browser);
    const wrong = await app.exchange(code, fields);
    expect([wrong.status, wrong.body]).toMatchObject([400, { error: 'invalid_grant' }]);
    expect((await app.exchange(code)).body).toMatchObject({ error: 'invalid_grant' });
    expect(await keys()).toHaveLength(before);
  });

  it('is not for another resource', async () => {
    const other = await app.exchange(await app.code(browser), {
      resource: 'https://elsewhere.example/mcp',
    });
    expect(other.body).toMatchObject({ error: 'invalid_target' });
    const narrower = await app.exchange(await app.code(browser), {
      resource: `${gateway.url}/mcp/readonly`,
    });
    expect(narrower.body).toMatchObject({ error: 'invalid_grant' });
  });

  it('expires after a minute, and leaves no key behind', async () => {
    clock.advance(MINUTE_MS);
    await granted();
    const before = (await keys()).length;
    const code = await app.code(browser);
    clock.advance(MINUTE_MS);
    expect((await app.exchange(code)).body).toMatchObject({ error: 'invalid_grant' });
    await app.code(browser);
    clock.advance(MINUTE_MS);
    await app.exchange(await app.code(browser));
    expect(await keys()).toHaveLength(before + 1);
  });

  it('must come with its parameters, once each', async () => {
    const missing = await app.token({ grant_type: 'authorization_code', code: 'x' });
    expect(missing.body).toEqual({
      error: 'invalid_request',
      error_description: 'redirect_uri is missing.',
    });
    expect((await app.token({ grant_type: 'password' })).body).toMatchObject({
      error: 'unsupported_grant_type',
    });
    expect((await app.exchange('junk')).body).toMatchObject({ error: 'invalid_grant' });
  });
});

describe('an access token', () => {
  it('works for an hour, and the previous one for a minute after a renewal', async () => {
    const first = await granted();
    clock.advance(HOUR_MS - 1);
    expect(await app.works(first['access_token'])).toBe(true);
    clock.advance(1);
    expect(await app.works(first['access_token'])).toBe(false);

    const second = (await app.refresh(first['refresh_token'])).body;
    expect(await app.works(first['access_token'])).toBe(false);
    clock.advance(HOUR_MS / 2);
    const third = (await app.refresh(second['refresh_token'])).body;
    expect(await app.works(second['access_token'])).toBe(true);
    expect(await app.works(third['access_token'])).toBe(true);
    clock.advance(MINUTE_MS);
    expect(await app.works(second['access_token'])).toBe(false);
    expect(await app.works(third['access_token'])).toBe(true);
  });

  it('is for one project', async () => {
    const { access_token: token } = await granted();
    const other = await new Person(gateway, 'bob@example.com').project({ name: 'Other' });
    const body = /^prj_(.{16})$/.exec(other.project.id)?.[1] ?? '';
    const forged = String(token).replace(/^(svc_live_).{16}/, `$1${body}`);
    expect(await app.works(forged)).toBe(false);
    const who = await gateway.call<{ project: { name: string } }>('GET', '/v1/whoami', {
      key: String(token),
    });
    expect(who.body.project.name).toBe('Acme');
  });

  it('ends with the grant', async () => {
    const first = await granted();
    // 30 days, as the person chose.
    clock.advance(30 * 24 * HOUR_MS - HOUR_MS / 2);
    const last = await app.refresh(first['refresh_token']);
    expect(last.body).toMatchObject({ expires_in: 1800 });
    clock.advance(HOUR_MS / 2);
    expect(await app.works(last.body['access_token'])).toBe(false);
    expect((await app.refresh(last.body['refresh_token'])).status).toBe(400);
  });
});

describe('a refresh token', () => {
  it('works once: whoever brings a used one ends the access of both', async () => {
    const first = await granted();
    const second = (await app.refresh(first['refresh_token'])).body;
    expect(second['refresh_token']).not.toBe(first['refresh_token']);
    const third = (await app.refresh(second['refresh_token'])).body;
    expect(await app.works(third['access_token'])).toBe(true);
    const stolen = await app.refresh(first['refresh_token']);
    expect([stolen.status, stolen.body]).toMatchObject([400, { error: 'invalid_grant' }]);
    expect(await app.works(third['access_token'])).toBe(false);
    expect((await app.refresh(third['refresh_token'])).status).toBe(400);
  });

  it('is for its client and its resource', async () => {
    const { refresh_token: token } = await granted();
    const other = await RawApp.registered(gateway, { client_name: 'Other' });
    expect((await other.refresh(token)).body).toMatchObject({ error: 'invalid_grant' });
    const resource = `${gateway.url}/mcp/readonly`;
    expect((await app.refresh(token, { resource })).body).toMatchObject({
      error: 'invalid_target',
    });
    expect((await app.refresh(token)).status).toBe(200);
  });

  it('of a client whose registration was signed with an earlier master key tells it to register', async () => {
    const other = new RawApp(gateway);
    other.clientId = 'svc.WyJPbGQiXQ.signature';
    const { refresh_token: token } = await granted();
    expect((await other.refresh(token)).body).toMatchObject({ error: 'invalid_client' });
    expect((await app.refresh(token)).status).toBe(200);
  });

  it('opens no tools', async () => {
    const { refresh_token: token } = await granted();
    expect(await app.works(token)).toBe(false);
  });
});

describe('revoking', () => {
  it.each(['access_token', 'refresh_token'])('the %s ends both', async (which) => {
    const tokens = await granted();
    expect((await app.revoke(tokens[which])).status).toBe(200);
    expect(await app.works(tokens['access_token'])).toBe(false);
    expect((await app.refresh(tokens['refresh_token'])).status).toBe(400);
    expect((await app.revoke(tokens[which])).status).toBe(200);
  });

  it('leaves alone what is not the client’s', async () => {
    const { access_token: token } = await granted();
    const other = await RawApp.registered(gateway, { client_name: 'Other' });
    expect((await other.revoke(token)).status).toBe(200);
    expect(await app.works(token)).toBe(true);
    expect((await app.revoke(adminKey)).status).toBe(200);
    expect(await app.works(adminKey)).toBe(true);
    expect((await app.revoke('junk')).status).toBe(200);
    expect((await app.revoke('')).body).toMatchObject({ error: 'invalid_request' });
  });
});

describe('the ledger', () => {
  it('has the beginning and the end of a grant, and no renewals', async () => {
    const { refresh_token: token } = await granted();
    const second = (await app.refresh(token)).body;
    await app.revoke(second['refresh_token']);
    const { body } = await gateway.call<{ items: { op: string; subject: string }[] }>(
      'GET',
      '/v1/ledger?limit=2',
      { key: adminKey },
    );
    expect(body.items.map(({ op }) => op)).toEqual(['key.revoked', 'key.created']);
    expect(body.items[0]?.subject).toBe(body.items[1]?.subject);
  });
});
