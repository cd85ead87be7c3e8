import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mayOfferOAuth } from '../../../../gateway/auth/oauth/offer.ts';
import { FakeClock, TestGateway } from '../../../helpers/gateway.ts';
import { Person } from '../sign-in/person.ts';
import { ANA, CALLBACK, RawApp } from './app.ts';
import { Browser } from './browser.ts';

const MINUTE_MS = 60_000;

let clock: FakeClock;
let gateway: TestGateway;
let browser: Browser;
let app: RawApp;
beforeAll(async () => {
  clock = new FakeClock();
  gateway = await TestGateway.start({ clock, signIn: true });
  await new Person(gateway, ANA).project({ name: 'Acme' });
  browser = await Browser.signedIn(gateway, ANA);
  app = await RawApp.registered(gateway);
});
afterAll(() => gateway.stop());

type Json = Record<string, unknown>;

async function read(path: string): Promise<Json> {
  const response = await fetch(gateway.url + path);
  expect(response.headers.get('content-type')).toBe('application/json');
  return (await response.json()) as Json;
}

describe('discovery', () => {
  it('leads from a 401 to the authorization server', async () => {
    const refused = await app.call(null);
    const header = refused.headers.get('www-authenticate') ?? '';
    expect([refused.status, header]).toEqual([
      401,
      `Bearer error="invalid_token", error_description="Missing or invalid access token.", scope="inbox:read inbox:write approvals disk send", resource_metadata="${gateway.url}/.well-known/oauth-protected-resource/mcp"`,
    ]);
    expect(await read('/.well-known/oauth-protected-resource/mcp')).toEqual({
      resource: `${gateway.url}/mcp`,
      authorization_servers: [gateway.url],
      scopes_supported: [
        'admin',
        'ledger:read',
        'inbox:read',
        'inbox:write',
        'approvals',
        'disk',
        'disk:read',
        'send',
      ],
      resource_name: 'svc',
    });
    expect(await read('/.well-known/oauth-authorization-server')).toEqual({
      issuer: gateway.url,
      authorization_endpoint: `${gateway.url}/ui/authorize`,
      token_endpoint: `${gateway.url}/oauth/token`,
      registration_endpoint: `${gateway.url}/oauth/register`,
      revocation_endpoint: `${gateway.url}/oauth/revoke`,
      scopes_supported: expect.arrayContaining(['admin', 'disk']),
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_methods_supported: ['none'],
      revocation_endpoint_auth_methods_supported: ['none'],
      code_challenge_methods_supported: ['S256'],
      client_id_metadata_document_supported: true,
      authorization_response_iss_parameter_supported: true,
    });
  });

  it('names each address of MCP as its own resource', async () => {
    const refused = await app.call(null, '/mcp/readonly?tools=inbox,ask');
    const url = /resource_metadata="([^"]+)"/.exec(refused.headers.get('www-authenticate') ?? '');
    const path = url?.[1]?.slice(gateway.url.length) ?? '';
    expect(path).toBe('/.well-known/oauth-protected-resource/mcp/readonly?tools=inbox%2Cask');
    expect(await read(path)).toMatchObject({
      resource: `${gateway.url}/mcp/readonly?tools=inbox%2Cask`,
      scopes_supported: ['ledger:read', 'inbox:read', 'disk:read'],
    });
    expect(await read('/.well-known/oauth-protected-resource')).toMatchObject({
      resource: `${gateway.url}/mcp`,
    });
    const other = await fetch(`${gateway.url}/.well-known/oauth-protected-resource/v1`);
    expect(other.status).toBe(404);
  });

  it('is off without sign-in, as in local mode', async () => {
    const local = await TestGateway.start();
    const raw = new RawApp(local);
    const refused = await raw.call(null);
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    for (const path of ['/.well-known/oauth-protected-resource/mcp', '/ui/authorize']) {
      expect((await fetch(local.url + path)).status).toBe(404);
    }
    expect((await raw.register({ redirect_uris: [CALLBACK] })).status).toBe(404);
    await local.stop();
  });

  it.each([
    ['https://svc.example.com', true],
    ['http://127.0.0.1:4780', true],
    ['http://[::1]:4780', true],
    ['http://svc.example.com', false],
    ['http://192.168.1.4:4780', false],
  ])('is offered where nobody can read tokens on the way: %s, %j', (publicUrl, isOffered) => {
    expect(mayOfferOAuth(publicUrl)).toBe(isOffered);
  });

  it('leaves REST as it is', async () => {
    const refused = await fetch(`${gateway.url}/v1/whoami`);
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
  });
});

describe('the endpoints', () => {
  it('limit an address, without stopping those who have tokens', async () => {
    const { body: tokens } = await app.exchange(await app.code(browser));
    const answers = await Promise.all(Array.from({ length: 120 }, () => app.exchange('junk')));
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused[0]?.body).toMatchObject({ error: 'too_many_requests' });
    expect(Number(refused[0]?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await app.works(tokens['access_token'])).toBe(true);
    clock.advance(MINUTE_MS);
    expect((await app.exchange('junk')).status).toBe(400);
  });

  it('register only what can be used', async () => {
    clock.advance(10 * MINUTE_MS);
    const custom = await app.register({ redirect_uris: ['cursor://back', 'http://evil.example/'] });
    expect(custom.body).toMatchObject({ error: 'invalid_redirect_uri' });
    const mixed = await app.register({
      redirect_uris: ['cursor://back', CALLBACK],
      token_endpoint_auth_method: 'client_secret_basic',
    });
    expect(mixed.body).toMatchObject({
      redirect_uris: [CALLBACK],
      token_endpoint_auth_method: 'none',
    });
    const many = Array.from({ length: 11 }, (_, n) => `https://a.example/${n}`);
    expect((await app.register({ redirect_uris: many })).body).toMatchObject({
      error: 'invalid_client_metadata',
    });
    expect((await app.register('junk')).body).toMatchObject({ error: 'invalid_client_metadata' });
  });
});
