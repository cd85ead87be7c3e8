import { auth, UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeClock, TestGateway } from '../../../helpers/gateway.ts';
import { Person } from '../sign-in/person.ts';
import { ANA, App, CALLBACK } from './app.ts';
import { Browser } from './browser.ts';

const HOUR_MS = 3_600_000;

let clock: FakeClock;
let gateway: TestGateway;
let adminKey: string;
beforeAll(async () => {
  clock = new FakeClock();
  gateway = await TestGateway.start({ clock, signIn: true });
  adminKey = (await new Person(gateway, ANA).project({ name: 'Acme' })).api_key;
});
afterAll(() => gateway.stop());

/** Connects as the SDK does; throws UnauthorizedError when a person must see a page. */
async function connect(app: App, path = '/mcp'): Promise<Client> {
  const client = new Client({ name: 'trip-planner', version: '1.0.0' });
  const url = new URL(gateway.url + path);
  await client.connect(new StreamableHTTPClientTransport(url, { authProvider: app }));
  return client;
}

/** The code that a person's consent brings to the app. */
async function allowed(app: App, browser: Browser, scopes: readonly string[]): Promise<string> {
  await browser.openFromApp(app.page);
  const { next } = await browser.send({ verb: 'allow', lifetime: '30', scopes });
  const back = new URL(next ?? '');
  expect(`${back.origin}${back.pathname}`).toBe(CALLBACK);
  expect(back.searchParams.get('state')).toBe('st&te');
  expect(back.searchParams.get('iss')).toBe(gateway.url);
  return back.searchParams.get('code') ?? '';
}

describe('the official SDK client', () => {
  it('signs a person in by the address alone, renews its access and calls tools', async () => {
    const app = new App();
    await expect(connect(app)).rejects.toThrow(UnauthorizedError);
    expect(new URL(app.page).searchParams.get('resource')).toBe(`${gateway.url}/mcp`);
    expect(new URL(app.page).searchParams.get('scope')).toBe(
      'inbox:read inbox:write approvals disk send',
    );

    const browser = new Browser(gateway);
    const signIn = await browser.openFromApp(app.page);
    expect([signIn.status, browser.text]).toEqual([
      401,
      expect.stringContaining('Sign in to connect an app'),
    ]);
    await browser.signIn(ANA);
    expect(browser.page.next).toMatch(/^\/ui\/authorize\?/);
    await browser.open(browser.page.next ?? '');
    expect(browser.text).toContain('Trip Planner');

    const code = await allowed(app, browser, ['inbox:read', 'disk']);
    const serverUrl = `${gateway.url}/mcp`;
    expect(await auth(app, { serverUrl, authorizationCode: code })).toBe('AUTHORIZED');
    expect(app.kept).toMatchObject({
      access_token: expect.stringMatching(/^svc_live_/),
      refresh_token: expect.stringMatching(/^svc_refresh_/),
      token_type: 'Bearer',
      expires_in: 3600,
      scope: 'inbox:read disk',
    });

    const client = await connect(app);
    const set = await client.callTool({ name: 'kv_set', arguments: { key: 'a', value: 1 } });
    expect(set.isError).not.toBe(true);
    const send = await client.callTool({ name: 'email_send', arguments: {} });
    expect(send.content).toMatchObject([{ text: expect.stringContaining('SCOPE_MISSING') }]);

    const before = app.kept?.access_token;
    clock.advance(HOUR_MS);
    const later = await connect(app);
    expect(app.kept?.access_token).not.toBe(before);
    expect((await later.callTool({ name: 'kv_get', arguments: { key: 'a' } })).isError).not.toBe(
      true,
    );
    await Promise.all([client.close(), later.close()]);
  });

  it('shows as a key of the client, and ends when the owner revokes it', async () => {
    const app = new App();
    const browser = await Browser.signedIn(gateway, ANA);
    await connect(app).catch(() => undefined);
    const code = await allowed(app, browser, ['inbox:read']);
    await auth(app, { serverUrl: `${gateway.url}/mcp`, authorizationCode: code });
    const client = await connect(app);

    const keys = await gateway.call<{ items: Record<string, unknown>[] }>('GET', '/v1/keys', {
      key: adminKey,
    });
    const key = keys.body.items.at(-1);
    expect(key).toEqual({
      id: expect.stringMatching(/^key_/),
      name: 'Trip Planner',
      status: 'active',
      client: '127.0.0.1:9',
      last4: app.kept?.access_token.slice(-4),
      scopes: ['inbox:read'],
      disk_prefixes: null,
      created_at: expect.any(String),
      created_by: expect.stringMatching(/^mbr_/),
      maker: 'a***@example.com',
      last_used_at: null,
      expires_at: new Date(clock.now() + 30 * 24 * HOUR_MS).toISOString(),
      revoked_at: null,
    });
    const path = `/v1/keys/${String(key?.['id'])}`;
    const rotated = await gateway.call('POST', `${path}/rotate`, { key: adminKey, body: {} });
    expect([rotated.status, rotated.body]).toMatchObject([
      400,
      { error: { code: 'VALIDATION_FAILED' } },
    ]);

    await gateway.call('DELETE', path, { key: adminKey });
    // The SDK tries to renew, and then wants the person again.
    app.page = '';
    await expect(client.listTools()).rejects.toThrow(UnauthorizedError);
    expect(app.page).toContain('/ui/authorize?');
    await client.close();
  });

  it('gets less at the read-only address', async () => {
    const app = new App();
    const browser = await Browser.signedIn(gateway, ANA);
    await connect(app, '/mcp/readonly').catch(() => undefined);
    expect(new URL(app.page).searchParams.get('resource')).toBe(`${gateway.url}/mcp/readonly`);
    await browser.openFromApp(app.page);
    expect(browser.boxes()).toEqual(['ledger:read', 'inbox:read', 'disk:read']);
    const code = await allowed(app, browser, ['disk:read', 'admin', 'disk']);
    const serverUrl = `${gateway.url}/mcp/readonly`;
    await auth(app, { serverUrl, authorizationCode: code });
    expect(app.kept?.scope).toBe('disk:read');
    const client = await connect(app, '/mcp/readonly?tools=disk');
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('kv_get');
    await client.close();
  });
});
