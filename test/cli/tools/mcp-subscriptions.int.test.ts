import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TestGateway } from '../../helpers/gateway.ts';
import { LossyProxy } from '../../helpers/lossy-proxy.ts';
import { META } from '../../shared/api/mcp/wire.ts';
import { startBridge } from './mcp-stdio.ts';
import { hurryTime } from '../../helpers/hurried-time.ts';

beforeEach(() => hurryTime(10));

let gateway: TestGateway;
let proxy: LossyProxy;
let running: ReturnType<typeof startBridge>;

beforeEach(async () => {
  gateway = await TestGateway.start();
  proxy = await LossyProxy.open(gateway.url);
  running = startBridge(proxy.url, gateway.apiKey);
});
afterEach(async () => {
  running.input.end();
  await running.done;
  await proxy.down();
  await gateway.stop();
});

const keep = (key: string, value: unknown) =>
  gateway.call('PUT', `/v1/kv/${encodeURIComponent(key)}`, { body: value });

async function tells(line: string): Promise<void> {
  await expect.poll(() => running.told()).toContain(line);
}

describe('subscriptions over standard input and output', () => {
  it('are among what the client is told there is', async () => {
    const { result } = await running.ask('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'x', version: '1' },
    });
    expect(result?.['capabilities']).toEqual({
      tools: { listChanged: false },
      resources: { subscribe: true, listChanged: true },
      prompts: { listChanged: false },
      completions: {},
    });
  });

  it('tell of the resources subscribed to, in the form of the older revisions', async () => {
    expect(await running.ask('resources/subscribe', { uri: 'kv://a' })).toMatchObject({
      result: {},
    });
    await keep('other', 1);
    await keep('a', 1);
    await tells('updated kv://a');
    expect(running.heard.find(({ method }) => method !== undefined)).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/resources/updated',
      params: { uri: 'kv://a' },
    });
    // Nobody has a list that could be an old one.
    expect(running.told()).not.toContain('list_changed');
  });

  it('take many at once as one stream, and drop it with the last', async () => {
    const { ask, client } = running;
    const uris = ['kv://a', 'kv://b', 'disk://c', 'inbox://d'];
    const answers = await Promise.all(uris.map((uri) => ask('resources/subscribe', { uri })));
    expect(answers.every(({ result }) => result !== undefined)).toBe(true);
    expect(client.opened).toBeLessThanOrEqual(2);
    await keep('b', 1);
    await tells('updated kv://b');
    for (const uri of uris) await ask('resources/unsubscribe', { uri });
    await expect.poll(() => client.streams).toBe(0);
    await keep('a', 1);
    expect(running.told()).not.toContain('updated kv://a');
  });

  it('tell nothing more of what was unsubscribed from', async () => {
    const { ask, told } = running;
    await ask('resources/subscribe', { uri: 'kv://a' });
    await ask('resources/subscribe', { uri: 'kv://b' });
    await ask('resources/unsubscribe', { uri: 'kv://a' });
    await keep('a', 1);
    await keep('b', 1);
    await tells('updated kv://b');
    expect(told()).not.toContain('updated kv://a');
  });

  it('tell of the list to who has read it', async () => {
    await running.ask('resources/list');
    await expect.poll(() => running.client.streams).toBe(1);
    await keep('a', 1);
    await tells('list_changed');
  });

  it.each(['file:///etc/passwd', 'nonsense'])('refuse %s', async (uri) => {
    expect(await running.ask('resources/subscribe', { uri })).toMatchObject({
      error: { code: -32_002, message: 'Resource not found' },
    });
    await expect.poll(() => running.client.streams).toBe(0);
  });

  it('are fifty at most', async () => {
    const uris = Array.from({ length: 50 }, (_, n) => `kv://many/${n}`);
    await Promise.all(uris.map((uri) => running.ask('resources/subscribe', { uri })));
    expect(await running.ask('resources/subscribe', { uri: 'kv://more' })).toMatchObject({
      error: { code: -32_602, message: expect.stringContaining('At most 50') },
    });
  });

  it('go on when the other side was away, and have the client look at all of it', async () => {
    const { ask, told } = running;
    await ask('resources/list');
    // Answered when the stream of both is acknowledged: the one of the list alone was opened before it.
    await ask('resources/subscribe', { uri: 'kv://a' });
    expect(running.client.opened).toBe(2);
    await proxy.down();
    await keep('a', 1);
    await proxy.up();
    await tells('updated kv://a');
    await tells('list_changed');
    const before = told().length;
    await keep('a', 2);
    await expect.poll(() => told().length).toBeGreaterThan(before);
  });

  it('say so when the key is none any more', async () => {
    const created = await gateway.call('POST', '/v1/keys', {
      body: { name: 'short', scopes: ['disk'] },
    });
    const short = startBridge(proxy.url, String(created.body['api_key']));
    await short.ask('resources/subscribe', { uri: 'kv://a' });
    await gateway.call('DELETE', `/v1/keys/${String(created.body['id'])}`);
    await expect
      .poll(() => short.notes.join())
      .toContain('The client no longer hears about changes: KEY_REVOKED');
    expect(await short.ask('resources/subscribe', { uri: 'kv://b' })).toMatchObject({
      error: { code: 401, message: expect.stringContaining('KEY_REVOKED') },
    });
    short.input.end();
    await short.done;
  });

  it('of the newer revision pass through, and end with their input', async () => {
    const { send, heard, client, input, done } = running;
    const filter = { notifications: { resourceSubscriptions: ['kv://a'] } };
    send({ id: 77, method: 'subscriptions/listen', params: { _meta: META, ...filter } });
    await expect.poll(() => heard.length).toBe(1);
    await keep('a', 1);
    await expect.poll(() => heard.length).toBe(2);
    expect(heard).toMatchObject([
      { method: 'notifications/subscriptions/acknowledged' },
      {
        method: 'notifications/resources/updated',
        params: { uri: 'kv://a', _meta: { 'io.modelcontextprotocol/subscriptionId': 77 } },
      },
    ]);
    input.end();
    await done;
    await expect.poll(() => client.streams).toBe(0);
    expect(heard).toHaveLength(2);
  });

  it('of the newer revision end when they are cancelled, without an answer', async () => {
    const { send, ask, heard, client } = running;
    const filter = { notifications: { resourcesListChanged: true } };
    send({ id: 77, method: 'subscriptions/listen', params: { _meta: META, ...filter } });
    await expect.poll(() => client.streams).toBe(1);
    send({ method: 'notifications/cancelled', params: { requestId: 77 } });
    await expect.poll(() => client.streams).toBe(0);
    await ask('ping');
    expect(heard.some(({ id }) => id === 77)).toBe(false);
  });

  it('of the older kind are unknown to the newer revision', async () => {
    const answer = await running.ask('resources/subscribe', { _meta: META, uri: 'kv://a' });
    expect(answer).toMatchObject({ error: { code: -32_601 } });
  });
});
