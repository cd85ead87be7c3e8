import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { TestGateway } from '../../../helpers/gateway.ts';
import { linkFor } from '../../web/inbox/web-visitor.ts';
import { Person } from '../sign-in/person.ts';
import { ANA, CALLBACK, RawApp } from './app.ts';
import { Browser } from './browser.ts';

let gateway: TestGateway;
let signedIn: Browser;
let adminKey: string;
let slug: string;
let app: RawApp;
beforeAll(async () => {
  gateway = await TestGateway.start({ signIn: true });
  const { api_key, project } = await new Person(gateway, ANA).project({ name: 'Acme' });
  [adminKey, slug] = [api_key, project.slug];
  signedIn = await Browser.signedIn(gateway, ANA);
  app = await RawApp.registered(gateway, { client_name: 'Trip\u202ePlanner' });
});
afterAll(() => gateway.stop());

let browser: Browser;
beforeEach(() => {
  browser = new Browser(gateway);
  for (const [name, value] of signedIn.cookies) browser.cookies.set(name, value);
});

describe('the page', () => {
  it('says who asks, marks what the app wrote, and ticks nothing that does more than read', async () => {
    await browser.openFromApp(app.url());
    expect(browser.text).toContain('The app says that its name is');
    expect(browser.page.html).toContain('<span class="hid">U+202E</span>');
    expect(browser.text).toContain('127.0.0.1:9 , a program on this computer');
    expect(browser.text).toContain(`Signed in as ${ANA}`);
    expect(browser.boxes()).toContain('admin');
    expect(browser.checked()).toEqual(['ledger:read', 'inbox:read', 'disk:read']);
    expect(browser.page.headers.get('content-security-policy')).toContain("form-action 'self'");
    expect(browser.page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  });

  it('offers no more than the app asked for', async () => {
    await browser.openFromApp(app.url({ scope: 'disk:read admin openid' }));
    expect(browser.boxes()).toEqual(['admin', 'disk:read']);
    expect(browser.checked()).toEqual(['disk:read']);
    const more = await browser.send({ verb: 'allow', lifetime: '1', scopes: ['send'] });
    expect([more.status, browser.text]).toEqual([400, expect.stringContaining('at least one')]);
    const { next } = await browser.send({
      verb: 'allow',
      lifetime: '1',
      scopes: ['disk:read', 'send'],
    });
    const { body } = await app.exchange(new URL(next ?? '').searchParams.get('code') ?? '');
    expect(body['scope']).toBe('disk:read');
  });

  it('lets a person with several projects choose', async () => {
    const carol = new Person(gateway, 'carol@example.com');
    await carol.project({ name: 'First' });
    await carol.project({ name: 'Second', slug: 'carols-second' });
    browser = await Browser.signedIn(gateway, carol.email);
    await browser.openFromApp(app.url());
    expect(browser.page.html).toContain('<option value="carols-second">Second');
    const foreign = await browser.send({ verb: 'allow', lifetime: '1', project: slug });
    expect([foreign.status, browser.text]).toEqual([400, expect.stringContaining('a project')]);
    const { next } = await browser.send({ verb: 'allow', lifetime: '1', project: 'carols-second' });
    const { body } = await app.exchange(new URL(next ?? '').searchParams.get('code') ?? '');
    const who = await gateway.call<{ project: { name: string } }>('GET', '/v1/whoami', {
      key: String(body['access_token']),
    });
    expect(who.body.project.name).toBe('Second');
  });

  it('says that the project has too many keys, and grants nothing', async () => {
    const bob = new Person(gateway, 'bob@example.com');
    const { api_key: key } = await bob.project({ name: 'Full' });
    for (let n = 1; n < 20; n++) {
      await gateway.call('POST', '/v1/keys', { key, body: { name: 'x', scopes: ['disk'] } });
    }
    browser = await Browser.signedIn(gateway, bob.email);
    await browser.openFromApp(app.url());
    const { status } = await browser.send({ verb: 'allow', lifetime: '30' });
    expect([status, browser.page.next]).toEqual([409, null]);
    expect(browser.text).toContain('the maximum number of active keys');
    expect(browser.page.html).toMatch(/<a href="\/ui\/p\/full[\w-]*\/keys">Keys<\/a>/);
  });
});

describe('the answer', () => {
  it('brings a denial back to the app', async () => {
    await browser.openFromApp(app.url());
    const { status, next } = await browser.send({ verb: 'deny' });
    const back = new URL(next ?? '');
    expect([status, back.origin + back.pathname]).toEqual([200, CALLBACK]);
    expect(Object.fromEntries(back.searchParams)).toEqual({
      error: 'access_denied',
      error_description: 'The person refused.',
      state: 'xyz',
      iss: gateway.url,
    });
  });

  it('is taken only from the form that this person saw', async () => {
    await browser.openFromApp(app.url());
    const ok = { verb: 'allow', lifetime: '30' };
    const forged = await browser.send({ ...ok, csrf: 'forged' });
    expect(forged.status).toBe(403);
    await browser.openFromApp(app.url());
    const elsewhere = await browser.send(
      ok,
      app.url({ redirect_uri: 'http://127.0.0.1:7/callback' }),
    );
    expect(elsewhere.status).toBe(403);
    await browser.openFromApp(app.url());
    const foreign = await browser.send(ok, app.url(), { 'sec-fetch-site': 'same-site' });
    expect(foreign.status).toBe(403);
  });

  it('may go to another port on loopback', async () => {
    await browser.openFromApp(app.url({ redirect_uri: 'http://127.0.0.1:51234/callback' }));
    const { next } = await browser.send({ verb: 'allow', lifetime: '30' });
    expect(next).toMatch(/^http:\/\/127\.0\.0\.1:51234\/callback\?code=/);
  });
});

describe('a request with a mistake', () => {
  it.each([
    ['an unknown client', { client_id: 'svc.e30.forged' }],
    ['another redirect_uri', { redirect_uri: 'https://evil.example/callback' }],
    ['a redirect_uri with another path', { redirect_uri: `${CALLBACK}/..` }],
    ['a redirect_uri on another loopback name', { redirect_uri: 'http://localhost:9/callback' }],
    ['no redirect_uri', { redirect_uri: '' }],
  ])('leads nowhere: %s', async (_what, fields) => {
    const { status, next } = await browser.openFromApp(app.url(fields));
    expect([status, next]).toEqual([400, null]);
    expect(browser.text).toContain('can’t be connected');
  });

  it.each([
    ['unsupported_response_type', { response_type: 'token' }],
    ['invalid_request', { code_challenge: '' }],
    ['invalid_request', { code_challenge_method: 'plain' }],
    ['invalid_target', { resource: 'https://elsewhere.example/mcp' }],
    ['invalid_target', { resource: '/v1' }],
    ['invalid_scope', { scope: 'everything' }],
  ])('leads back to the app only by a link that names its host: %s', async (error, fields) => {
    const { status, next, headers } = await browser.openFromApp(app.url(fields));
    expect([status, next, headers.get('refresh')]).toEqual([400, null, null]);
    expect(browser.text).toContain('The app is at 127.0.0.1:9 .');
    const [, link = ''] = /<a class="btn" href="([^"]*)"/.exec(browser.page.html) ?? [];
    const back = new URL(link.replaceAll('&amp;', '&')).searchParams;
    expect([back.get('error'), back.get('state')]).toEqual([error, 'xyz']);
  });

  it('leads no stranger anywhere', async () => {
    const stranger = new Browser(gateway);
    const { status, next } = await stranger.open(app.url({ scope: 'everything' }));
    expect([status, next]).toEqual([401, null]);
    expect(stranger.page.html).not.toContain('127.0.0.1:9');
  });
});

describe('the keys page', () => {
  it('shows the app’s key, which the owner can revoke but not rotate', async () => {
    const own = await RawApp.registered(gateway, { client_name: 'Listed' });
    const { body: tokens } = await own.exchange(await own.code(browser));
    const list = `/ui/p/${slug}/keys`;
    await browser.open(list);
    expect(browser.text).toContain('App Active of the app at 127.0.0.1:9 ·');
    const pages = [...browser.page.html.matchAll(/href="(\/ui\/p\/[^"]+\/keys\/key_\w+)"/g)];
    const page = pages.at(-1)?.[1] ?? '';
    await browser.open(page);
    expect(browser.text).toContain('It renews its secret every hour.');
    expect(browser.text).not.toContain('New secret');
    await browser.open(`${page}?step=revoke`);
    await browser.send({ act: 'revoke' });
    expect(await own.works(tokens['access_token'])).toBe(false);
  });
});

describe('who may allow', () => {
  it('is no key, because an agent could open its own inbox', async () => {
    const agent = new Browser(gateway);
    await agent.open(await linkFor(gateway, adminKey));
    await agent.send({});
    const { status } = await agent.open(app.url());
    expect([status, agent.text]).toEqual([401, expect.stringContaining('A key can’t let an app')]);
  });

  it('is nobody without a project', async () => {
    const visitor = await Browser.signedIn(gateway, 'dan@example.com');
    const { status } = await visitor.openFromApp(app.url());
    expect([status, visitor.text]).toEqual([400, expect.stringContaining('svc login')]);
  });
});
