import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LOOPBACK, type Receiver } from '../gateway/callbacks/callback-receiver.ts';
import { TestGateway } from '../helpers/gateway.ts';
import { linkToken } from '../helpers/outbox.ts';
import { Contract } from './contract.ts';
import { askingToken, decide } from './deciding.ts';
import { wholeDocument } from './doors/document.ts';
import { startReceiver } from './receiver.ts';
import { World } from './scenario.ts';
import { readPage } from '../helpers/reading.ts';

// What is no operation but stands in the document all the same: links, pages, tools, callbacks.

const contract = new Contract(wholeDocument());
const MIB = 1024 * 1024;

let gateway: TestGateway;
let receiver: Receiver;
let world: World;

beforeAll(async () => {
  gateway = await TestGateway.start({ callbackAllow: LOOPBACK, signIn: true });
  receiver = await startReceiver();
  world = new World(gateway, receiver.url());
});
afterAll(async () => {
  await gateway.stop();
  await receiver.stop();
});

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** An answer that is as promised. */
async function promised(name: string, url: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(new URL(url, gateway.url), { redirect: 'manual', ...init });
  const { status, headers } = response;
  const text = await response.text();
  const [type = ''] = (headers.get('content-type') ?? '').split(';');
  const json = type === 'application/json' && text !== '';
  const body = json ? (JSON.parse(text) as unknown) : text || undefined;
  expect(contract.faults(name, status, body, type)).toEqual([]);
  expect(contract.missingHeaders(name, status, headers)).toEqual([]);
  expect(headers.get('x-request-id')).toMatch(/^\S{10,}$/);
  return { status, headers, text };
}

describe('every address of the document', () => {
  const { paths } = wholeDocument() as {
    paths: Record<string, Record<string, unknown>>;
  };
  const addresses = Object.keys(paths);

  it.each(addresses)('%s names its methods to whoever comes by another', async (path) => {
    const url = gateway.url + path.replaceAll(/\{\w+\}/g, 'x');
    const { status, headers } = await fetch(url, { method: 'PATCH' });
    const named = (headers.get('allow') ?? '').toLowerCase().split(', ');
    const described = Object.keys(paths[path] ?? {}).filter((member) => member !== 'servers');
    expect(status).toBe(405);
    // What is read may be looked at by HEAD, whether that is worth a description or not.
    expect(named.filter((method) => method !== 'head').toSorted()).toEqual(
      described.filter((method) => method !== 'head').toSorted(),
    );
  });
});

describe('a link into the web inbox', () => {
  it('answers as promised', async () => {
    const post = (body: string, key = gateway.apiKey): Promise<Answer> =>
      promised('ui_link_create', '/v1/ui/links', {
        method: 'POST',
        body,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      });
    expect((await post('{"page":"requests"}')).status).toBe(201);
    expect((await post('{"page":".."}')).status).toBe(400);
    expect((await post('{}', 'junk')).status).toBe(401);
    expect((await promised('ui_link_create', '/v1/ui/links')).status).toBe(405);
  });
});

describe('an upload link', () => {
  it('answers as promised', async () => {
    const upload = { size: 5, content_type: 'text/plain' };
    const { upload_url } = await world.get('file_put', { path: 'up', upload });
    const url = String(upload_url);
    const put = (body: string): Promise<Answer> =>
      promised('file_upload', url, {
        method: 'PUT',
        body,
        headers: { 'content-type': 'text/plain' },
      });
    expect((await put('four')).status).toBe(400);
    expect((await put('five!')).status).toBe(200);
    expect((await promised('file_upload', url)).status).toBe(405);
    const nowhere = await promised('file_upload', '/u/nonsense', { method: 'PUT', body: 'x' });
    expect(nowhere.status).toBe(404);
  });
});

/** A file above what an answer may hold, by its two kinds of links. */
async function links(): Promise<Record<'file_link' | 'file_download', string>> {
  const path = 'large';
  const upload = { size: MIB + 1, content_type: 'text/html' };
  const { upload_url, upload_headers, upload_id } = await world.get('file_put', { path, upload });
  await fetch(String(upload_url), {
    method: 'PUT',
    headers: upload_headers as Record<string, string>,
    body: new Uint8Array(MIB + 1).fill(65),
  });
  await world.get('file_put', { path, complete: upload_id });
  const { request_id } = await world.get('file_url', { path, wait_seconds: 0 });
  await decide(gateway, world, String(request_id), { verb: 'approve' });
  const { url } = await world.get('file_url', { path, approval: request_id });
  const { download_url } = await world.get('file_get', { path });
  return { file_link: String(url), file_download: String(download_url) };
}

describe('the links to a file', () => {
  let urls: Awaited<ReturnType<typeof links>>;

  beforeAll(async () => {
    urls = await links();
  });

  it.each(['file_link', 'file_download'] as const)('%s answers as promised', async (name) => {
    const url = urls[name];
    const whole = await promised(name, url);
    expect([whole.status, whole.text.length]).toEqual([200, MIB + 1]);
    expect(whole.headers.get('content-disposition')).toMatch(/^attachment;/);
    const part = await promised(name, url, { headers: { range: 'bytes=1-4' } });
    expect([part.status, part.text]).toEqual([206, 'AAAA']);
    const beyond = await promised(name, url, { headers: { range: 'bytes=9999999-' } });
    expect(beyond.status).toBe(416);
    const head = await promised(`${name}_head`, url, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(MIB + 1)]);
    expect((await promised(name, url, { method: 'POST' })).status).toBe(405);
    const forged = await promised(name, `${url}x`);
    expect(forged.status).toBe(404);
  });
});

describe('a payload link', () => {
  it('answers as promised', async () => {
    const body = JSON.stringify({ text: 'x'.repeat(300_000) });
    const delivered = await world.deliver(await world.hook(), body);
    const event_id = delivered.body['event_id'];
    const { payload_url } = await world.get('inbox_claim', { event_id });
    const got = await promised('payload_download', String(payload_url));
    expect([got.status, got.text === body]).toEqual([200, true]);
    expect((await promised('payload_download', `${String(payload_url)}x`)).status).toBe(404);
  });
});

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

/** Presses a button of a page. */
async function press(name: string, url: string, fields: Record<string, string>): Promise<Answer> {
  const page = await fetch(url);
  const csrf = /name="csrf" value="([^"]+)"/.exec(await page.text())?.[1] ?? '';
  const body = new URLSearchParams({ csrf, ...fields });
  await readPage(url);
  const origin = new URL(url).origin;
  return promised(name, url, { method: 'POST', headers: { ...FORM, origin }, body });
}

describe('the page of a request', () => {
  it('answers as promised', async () => {
    const asked = await world.get('ask_approval', {
      action: 'deploy',
      summary: 'Deploy the doors',
      wait_seconds: 0,
    });
    const request_id = String(asked['request_id']);
    const url = `${gateway.url}/a/${await askingToken(gateway, world, request_id)}`;
    const seen = await promised('request_page', url);
    expect([seen.status, seen.text.includes('Deploy the doors')]).toEqual([200, true]);
    const post = { method: 'POST', headers: FORM };
    expect((await promised('request_decide', url, { ...post, body: 'csrf=x' })).status).toBe(403);
    const json = { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } };
    expect((await promised('request_decide', url, json)).status).toBe(415);
    const long = { ...post, body: `comment=${'x'.repeat(20_000)}` };
    expect((await promised('request_decide', url, long)).status).toBe(413);
    expect((await press('request_decide', url, { verb: 'dance' })).status).toBe(400);
    expect(await world.get('request_status', { request_id })).toMatchObject({ status: 'pending' });

    expect((await press('request_decide', url, { verb: 'approve' })).status).toBe(303);
    expect(await world.get('request_status', { request_id })).toMatchObject({ status: 'approved' });
    expect((await promised('request_page', url)).status).toBe(200);
    expect((await promised('request_page', url, { method: 'PUT' })).status).toBe(405);
    expect((await promised('request_page', '/a/nonsense')).status).toBe(404);
  });
});

describe('the page of an address', () => {
  it('answers as promised', async () => {
    await world.get('channel_add', { kind: 'email', address: 'ana@example.com' });
    const url = `${gateway.url}/c/${await linkToken(gateway.folder, 'c')}`;
    expect((await promised('channel_page', url)).status).toBe(200);
    const wrong = { method: 'POST', headers: FORM, body: 'csrf=x' };
    expect((await promised('channel_confirm', url, wrong)).status).toBe(403);
    const status = async (): Promise<unknown> => {
      const { items } = await world.get('channel_list', {});
      return (items as { status: string }[]).map((channel) => channel.status);
    };
    expect(await status()).toEqual(['active', 'added']);
    expect((await press('channel_confirm', url, {})).status).toBe(303);
    expect(await status()).toEqual(['active', 'verified']);
    expect((await promised('channel_page', url, { method: 'DELETE' })).status).toBe(405);
    expect((await promised('channel_page', '/c/nonsense')).status).toBe(404);
  });
});

describe('the door of tools', () => {
  it('answers as promised', async () => {
    const call = (
      body: string,
      key = gateway.apiKey,
      path = '/mcp',
      operation = 'mcp',
    ): Promise<Answer> =>
      promised(operation, path, {
        method: 'POST',
        body,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      });
    const list = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';
    expect((await call(list)).status).toBe(200);
    expect((await call(list, 'svc_live_nonsense')).status).toBe(401);
    expect((await call('{"jsonrpc":"2.0","method":"notifications/initialized"}')).status).toBe(202);
    expect((await call('{')).status).toBe(400);
    expect((await promised('mcp', '/mcp')).status).toBe(405);
    expect((await promised('mcp_read_only', '/mcp/readonly')).status).toBe(405);
    expect((await call(list, gateway.apiKey, '/mcp/readonly', 'mcp_read_only')).status).toBe(200);
    expect((await call(list, gateway.apiKey, '/mcp?tools=nonsense')).status).toBe(400);
  });
});

function form(body: string): RequestInit {
  return { method: 'POST', body, headers: FORM };
}

describe('how an app gets access', () => {
  it('answers as promised', async () => {
    const resource = '/.well-known/oauth-protected-resource';
    expect((await promised('oauth_resource', resource)).status).toBe(200);
    expect((await promised('oauth_resource_mcp', `${resource}/mcp?tools=inbox`)).status).toBe(200);
    expect((await promised('oauth_resource_mcp', `${resource}/nonsense`)).status).toBe(404);
    expect(
      (await promised('oauth_resource_mcp_read_only', `${resource}/mcp/readonly`)).status,
    ).toBe(200);
    const server = '/.well-known/oauth-authorization-server';
    expect((await promised('oauth_server', server)).status).toBe(200);
    const client = '{"redirect_uris":["http://127.0.0.1/back"]}';
    const registered = await promised('oauth_register', '/oauth/register', form(client));
    expect(registered.status).toBe(201);
    expect((await promised('oauth_register', '/oauth/register', form('{}'))).status).toBe(400);
    expect((await promised('oauth_consent_page', '/ui/authorize')).status).toBe(401);
    expect((await promised('oauth_consent', '/ui/authorize', form('csrf=x'))).status).toBe(401);
    expect((await promised('oauth_token', '/oauth/token', form('grant_type=x'))).status).toBe(400);
    expect((await promised('oauth_token', '/oauth/token', form('x'.repeat(20_000)))).status).toBe(
      413,
    );
    expect((await promised('oauth_revoke', '/oauth/revoke', form('token=x'))).status).toBe(200);
    expect((await promised('oauth_revoke', '/oauth/revoke')).status).toBe(405);
  });
});

describe('what goes to a callback', () => {
  it('is as promised', async () => {
    const callback_url = `${world.callbackUrl}/doors`;
    await world.get('route_add', { callback_url, match_source: 'doors' });
    await world.event('doors');
    const [sent] = await receiver.came(1);
    expect(contract.sentFaults('event_push', sent?.headers ?? {}, sent?.event)).toEqual([]);
    expect(sent?.event).toMatchObject({ source: 'doors', payload: { hello: 'world' } });
    expect(contract.sentFaults('event_push', {}, { id: 7 })).not.toEqual([]);
  });

  it('is as promised also at the end of a request', async () => {
    await world.get('request_callback_secret', {});
    const before = receiver.got.length;
    const rules = [{ id: 'free', effect: 'auto_approve', action: 'walk' }];
    const { request_id } = await world.get('policy_set', { policy: { rules }, wait_seconds: 0 });
    await decide(gateway, world, String(request_id), { verb: 'approve' });
    const asked = { action: 'walk', summary: 'Go', callback_url: world.callbackUrl };
    const answer = await world.get('ask_approval', asked);
    expect(answer).toMatchObject({ status: 'approved', decided_by: 'policy:free' });
    const sent = (await receiver.came(before + 1)).at(-1);
    expect(contract.sentFaults('event_push', sent?.headers ?? {}, sent?.event)).toEqual([]);
    expect(sent?.event).toMatchObject({
      type: 'request.resolved',
      trust: 'service',
      payload: { request_id: answer['request_id'], status: 'approved' },
    });
  });
});
