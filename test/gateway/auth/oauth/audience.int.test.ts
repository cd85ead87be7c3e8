import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestGateway } from '../../../helpers/gateway.ts';
import { Person } from '../sign-in/person.ts';
import { ANA, RawApp } from './app.ts';
import { Browser } from './browser.ts';

let gateway: TestGateway;
let key: string;
let browser: Browser;
let app: RawApp;
beforeAll(async () => {
  gateway = await TestGateway.start({ signIn: true });
  key = (await new Person(gateway, ANA).project({ name: 'Acme' })).api_key;
  browser = await Browser.signedIn(gateway, ANA);
  app = await RawApp.registered(gateway);
});
afterAll(() => gateway.stop());

async function tokensFor(path: string): Promise<Record<string, unknown>> {
  const resource = gateway.url + path;
  const code = await app.code(browser, { resource });
  const { body } = await app.exchange(code, { resource });
  return body;
}

const opens = async (token: unknown, path: string): Promise<number> =>
  (await app.call(token, path)).status;

async function ask(token: unknown, path: string, method: string, params: object): Promise<string> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  return JSON.stringify((await app.message(token, path, body)).body);
}

async function atRest(token: unknown, method = 'GET', path = '/v1/whoami'): Promise<number> {
  const body = method === 'POST' ? { body: {} } : {};
  return (await gateway.call(method, path, { key: String(token), ...body })).status;
}

describe('an address of MCP with a slash at its end', () => {
  it('is the one without', async () => {
    for (const path of ['/mcp', '/mcp/readonly', '/mcp?tools=inbox']) {
      const slashed = path.replace(/(?=\?|$)/, '/');
      const [plain, same] = [
        await app.call(gateway.apiKey, path),
        await app.call(gateway.apiKey, slashed),
      ];
      expect([slashed, same.status, same.body]).toEqual([slashed, 200, plain.body]);
    }
    expect((await app.call(null, '/mcp/')).status).toBe(401);
  });

  it('takes no token for less', async () => {
    const { access_token: token } = await tokensFor('/mcp/readonly');
    expect(await opens(token, '/mcp/readonly/')).toBe(200);
    expect(await opens(token, '/mcp/')).toBe(401);
  });
});

describe('a token that was asked for an address with fewer tools', () => {
  it('works at no other address, at REST, nor for svc open', async () => {
    const { access_token: token } = await tokensFor('/mcp?tools=whoami');
    expect(browser.page.html).not.toBe('');
    expect(await opens(token, '/mcp?tools=whoami')).toBe(200);
    for (const path of ['/mcp', '/mcp?tools=inbox', '/mcp?tools=whoami,inbox', '/mcp/readonly']) {
      expect([path, await opens(token, path)]).toEqual([path, 401]);
    }
    expect(await atRest(token)).toBe(401);
    expect(await atRest(token, 'POST', '/v1/ui/links')).toBe(401);
    const refused = await gateway.call<{ error: { hint: string } }>('GET', '/v1/whoami', {
      key: String(token),
    });
    expect(refused.body.error.hint).toContain(`${gateway.url}/mcp?tools=whoami only`);
  });

  it('lists, reads, completes and follows nothing that no tool there reads', async () => {
    await gateway.call('PUT', '/v1/kv/plan', { key, body: { value: 'secret plan' } });
    const kinds = ['disk://{+path}', 'kv://{+key}', 'inbox://{event_id}'];
    for (const [tools, seen] of [
      ['whoami', []],
      ['ask', []],
      ['kv_list', []],
      ['kv_get', ['kv://{+key}']],
      ['inbox', ['inbox://{event_id}']],
    ] as const) {
      const path = `/mcp?tools=${tools}`;
      const { access_token: token } = await tokensFor(path);
      const templates = await ask(token, path, 'resources/templates/list', {});
      expect([tools, kinds.filter((kind) => templates.includes(kind))]).toEqual([tools, seen]);
      const isRead = tools === 'kv_get';
      const listed = await ask(token, path, 'resources/list', {});
      expect([tools, listed.includes('kv://plan')]).toEqual([tools, isRead]);
      const read = await ask(token, path, 'resources/read', { uri: 'kv://plan' });
      expect([tools, read.includes('secret plan')]).toEqual([tools, isRead]);
      const ref = { type: 'ref/resource', uri: 'kv://{+key}' };
      const argument = { name: 'key', value: 'p' };
      const completed = await ask(token, path, 'completion/complete', { ref, argument });
      expect([tools, completed.includes('plan')]).toEqual([tools, isRead]);
    }
  });

  it('works where fewer of its tools are', async () => {
    const { access_token: token } = await tokensFor('/mcp?tools=inbox,ask');
    for (const [path, status] of [
      ['/mcp?tools=inbox,ask', 200],
      ['/mcp?tools=ask', 200],
      ['/mcp/readonly?tools=inbox', 200],
      ['/mcp?tools=inbox,disk', 401],
      ['/mcp', 401],
    ] as const) {
      expect([path, await opens(token, path)]).toEqual([path, status]);
    }
  });

  it('only reads if it was asked for the address that only reads', async () => {
    const { access_token: token } = await tokensFor('/mcp/readonly');
    expect(await opens(token, '/mcp/readonly')).toBe(200);
    expect(await opens(token, '/mcp/readonly?tools=inbox')).toBe(200);
    expect(await opens(token, '/mcp')).toBe(401);
    expect(await atRest(token)).toBe(401);
  });

  it('is renewed for the same address alone', async () => {
    const first = await tokensFor('/mcp?tools=ask');
    const other = await app.refresh(first['refresh_token'], { resource: `${gateway.url}/mcp` });
    expect(other.body).toMatchObject({ error: 'invalid_target' });
    const { body } = await app.refresh(first['refresh_token']);
    expect(await opens(body['access_token'], '/mcp?tools=ask')).toBe(200);
    expect(await opens(body['access_token'], '/mcp')).toBe(401);
  });
});

describe('the page that asks', () => {
  it.each([
    ['/mcp', ', REST and the web inbox'],
    ['/mcp?tools=inbox', ', and nothing else'],
    ['/mcp/readonly', ', and nothing else'],
  ])('names all that a token reaches: %s', async (path, words) => {
    await browser.openFromApp(app.url({ resource: gateway.url + path }));
    expect(browser.text.replaceAll(/\s+,/g, ',')).toContain(words);
  });

  it('isn’t shown for several addresses', async () => {
    const twice = `${app.url({ resource: `${gateway.url}/mcp?tools=ask` })}&resource=${gateway.url}/mcp`;
    const { status } = await browser.openFromApp(twice);
    expect([status, browser.text]).toEqual([400, expect.stringContaining('The resource must be')]);
  });
});

it('a token without a resource is for all of the service, as the page says', async () => {
  const { body } = await app.exchange(await app.code(browser));
  expect(await opens(body['access_token'], '/mcp')).toBe(200);
  expect(await atRest(body['access_token'])).toBe(200);
});
