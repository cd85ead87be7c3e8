import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestGateway } from '../../helpers/gateway.ts';

let gateway: TestGateway;
const urls: Record<string, string> = {};

const SOURCES: readonly Record<string, string>[] = [
  { name: 'plain' },
  { name: 'slack', verification: 'slack', secret: 'signing secret' },
  { name: 'zoom', verification: 'zoom', secret: 'secret token' },
  { name: 'meta', verification: 'meta', secret: 'app secret' },
  { name: 'dropbox', verification: 'dropbox', secret: 'app secret' },
  { name: 'okta', verification: 'okta', secret: 'okta secret' },
  { name: 'graph', verification: 'microsoft_graph', secret: 'client state' },
  { name: 'asana', verification: 'asana' },
  { name: 'trello', verification: 'trello', secret: 'trello secret' },
  { name: 'events', verification: 'cloudevents' },
];

beforeAll(async () => {
  gateway = await TestGateway.start();
  for (const source of SOURCES) urls[source['name'] ?? ''] = await gateway.addSource(source);
});
afterAll(() => gateway.stop());

async function ask(source: string, init: RequestInit = {}, end = '') {
  const response = await fetch(`${urls[source] ?? ''}${end}`, init);
  return { status: response.status, headers: response.headers, text: await response.text() };
}

async function eventsOf(source: string): Promise<number> {
  const answer = await gateway.call<{ items: unknown[] }>('GET', `/v1/inbox?source=${source}`);
  return answer.body.items.length;
}

const now = () => String(Math.floor(Date.now() / 1000));
const hex = (secret: string, text: string) =>
  createHmac('sha256', secret).update(text).digest('hex');

describe('a sender that looks whether the address is there', () => {
  it.each(['GET', 'HEAD', 'OPTIONS'])('by %s hears 200 and nothing else', async (method) => {
    for (const name of Object.keys(urls)) {
      for (const end of ['', '/', '?challenge', '/?hub.mode=subscribe']) {
        expect(await ask(name, { method }, end)).toMatchObject({ status: 200, text: '' });
      }
    }
    const unknown = (urls['plain'] ?? '').slice(0, -4);
    expect((await fetch(`${unknown}aaaa`, { method })).status).toBe(404);
  });

  it.each(['PUT', 'DELETE', 'PATCH'])('by %s is told which methods there are', async (method) => {
    const { status, headers } = await ask('plain', { method });
    expect(status).toBe(405);
    expect(headers.get('allow')).toBe('GET, HEAD, OPTIONS, POST');
  });

  it('may add a slash to the address', async () => {
    const init = { method: 'POST', body: '{"slash":true}' };
    expect(await ask('plain', init, '/')).toMatchObject({ status: 200 });
  });

  it('hears nothing of what it says, unless its sender asks that', async () => {
    const headers = { 'x-hook-secret': 'a', 'x-okta-verification-challenge': 'b' };
    const query = '?hub.challenge=1&challenge=2&validationToken=3';
    expect(await ask('plain', { headers }, query)).toMatchObject({ status: 200, text: '' });
    expect(await ask('trello', { headers }, query)).toMatchObject({ status: 200, text: '' });
  });
});

const answer = async (source: string, init: RequestInit, end = '') => {
  const { status, text, headers } = await ask(source, init, end);
  return { status, text, type: headers.get('content-type') };
};

describe('a challenge is answered as its sender wants to hear it:', () => {
  it('Meta', async () => {
    const query = '?hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=svc';
    const text = { status: 200, type: 'text/plain', text: '1158201444' };
    expect(await answer('meta', {}, query)).toEqual(text);
  });

  it('Dropbox', async () => {
    const text = { status: 200, type: 'text/plain', text: 'a-challenge' };
    expect(await answer('dropbox', {}, '?challenge=a-challenge')).toEqual(text);
    expect((await answer('dropbox', {}, '?challenge=a%0d%0ab')).text).toBe('');
  });

  it('Okta', async () => {
    const headers = { 'x-okta-verification-challenge': 'Me_rShK8JHs' };
    const text = '{"verification":"Me_rShK8JHs"}';
    expect(await answer('okta', { headers })).toEqual({
      status: 200,
      type: 'application/json',
      text,
    });
  });

  it('Microsoft Graph', async () => {
    const token = 'Validation: Testing client application reachability for 1+2';
    const query = `?validationToken=${encodeURIComponent(token)}`;
    const text = { status: 200, type: 'text/plain', text: token };
    expect(await answer('graph', { method: 'POST' }, query)).toEqual(text);
    expect(await eventsOf('graph')).toBe(0);
  });

  it('CloudEvents', async () => {
    const headers = { 'webhook-request-origin': 'eventemitter.example.com' };
    const asked = await ask('events', { method: 'OPTIONS', headers });
    expect(asked).toMatchObject({ status: 200, text: '' });
    expect(asked.headers.get('webhook-allowed-origin')).toBe('eventemitter.example.com');
  });

  it('Slack, if it is signed', async () => {
    const body = JSON.stringify({ type: 'url_verification', token: 't', challenge: '3eZbrw1aB' });
    const time = now();
    const signed = (secret: string) => ({
      'content-type': 'application/json',
      'x-slack-request-timestamp': time,
      'x-slack-signature': `v0=${hex(secret, `v0:${time}:${body}`)}`,
    });
    const given = { method: 'POST', body };
    const heard = await answer('slack', { ...given, headers: signed('signing secret') });
    expect(heard).toEqual({ status: 200, type: 'text/plain', text: '3eZbrw1aB' });
    expect((await answer('slack', { ...given, headers: signed('another') })).status).toBe(401);
    expect((await answer('slack', given)).status).toBe(401);
    expect(await eventsOf('slack')).toBe(0);
  });

  it('Zoom, if it is signed, and it signs nothing that could pass as a delivery', async () => {
    const asked = async (plainToken: string, secret = 'secret token') => {
      const body = JSON.stringify({ event: 'endpoint.url_validation', payload: { plainToken } });
      const time = now();
      const headers = {
        'content-type': 'application/json',
        'x-zm-request-timestamp': time,
        'x-zm-signature': `v0=${hex(secret, `v0:${time}:${body}`)}`,
      };
      return answer('zoom', { method: 'POST', body, headers });
    };
    const plainToken = 'qgg8vlvZRS6UYooatFL8Aw';
    const { text } = await asked(plainToken);
    const encryptedToken = hex('secret token', plainToken);
    expect(JSON.parse(text)).toEqual({ plainToken, encryptedToken });
    expect((await asked(plainToken, 'another')).status).toBe(401);
    expect((await asked('v0:1:{}')).text).not.toContain(hex('secret token', 'v0:1:{}'));
  });

  it('Asana, whose secret of the first time is the only one', async () => {
    const body = '{"events":[{"action":"added","resource":{"resource_type":"task"}}]}';
    const signed = (secret: string): RequestInit => ({
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', 'x-hook-signature': hex(secret, body) },
    });
    const shake = (secret: string) =>
      ask('asana', { method: 'POST', headers: { 'x-hook-secret': secret } });
    expect((await ask('asana', signed(''))).status).toBe(401);
    const first = await shake('b537207f20cbfa02357cf448134da559');
    expect(first).toMatchObject({ status: 200, text: '' });
    expect(first.headers.get('x-hook-secret')).toBe('b537207f20cbfa02357cf448134da559');
    expect((await shake('b537207f20cbfa02357cf448134da559')).status).toBe(200);
    const other = await shake('another');
    expect(other.status).toBe(401);
    expect(other.headers.get('x-hook-secret')).toBeNull();
    expect((await ask('asana', signed('another'))).status).toBe(401);
    expect((await ask('asana', signed('b537207f20cbfa02357cf448134da559'))).status).toBe(200);
    expect(await eventsOf('asana')).toBe(1);
  });
});
