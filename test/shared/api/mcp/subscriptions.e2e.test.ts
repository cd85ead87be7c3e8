import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TestGateway } from '../../../helpers/gateway.ts';
import { ReplicaDaemon } from '../../../helpers/replica-daemon.ts';
import { Pair } from '../../../gateway/cluster/pair.ts';
import { Agent, told } from './agent.ts';
import type { Listener } from './listener.ts';

const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';

let gateway: TestGateway;
let agent: Agent;
const open: Listener[] = [];

beforeEach(async () => {
  gateway = await TestGateway.start();
  agent = new Agent(gateway.url, gateway.apiKey);
});
afterEach(async () => {
  for (const listener of open.splice(0)) await listener.leave();
  await gateway.stop();
});

async function listen(filter: Record<string, unknown>, by = agent, id: string | number = 7) {
  const listener = await by.listen(filter, id);
  open.push(listener);
  return listener;
}

const keep = (key: string, value: unknown) =>
  gateway.call('PUT', `/v1/kv/${encodeURIComponent(key)}`, { body: value });

/** Resolves when a later change has been told: whatever was to be told before it has been. */
async function settled(listener: Listener, key: string): Promise<string[]> {
  await keep(key, Math.random());
  await expect.poll(() => told(listener.heard)).toContain(`updated kv://${key}`);
  return told(listener.heard.slice(1));
}

const NO_FILTER =
  "Invalid params: 'notifications' is required and must be a valid SubscriptionFilter";

describe('subscriptions/listen', () => {
  it('acknowledges what there is to hear, and of that only what was asked for', async () => {
    const listener = await listen(
      {
        toolsListChanged: true,
        promptsListChanged: true,
        resourcesListChanged: true,
        resourceSubscriptions: ['kv://a', 'file:///etc/passwd', 'kv://a', 'nonsense'],
      },
      agent,
      'a "quoted" id',
    );
    expect(listener.heard).toEqual([
      {
        jsonrpc: '2.0',
        method: 'notifications/subscriptions/acknowledged',
        params: {
          notifications: { resourcesListChanged: true, resourceSubscriptions: ['kv://a'] },
          _meta: { [SUBSCRIPTION]: 'a "quoted" id' },
        },
      },
    ]);
    const nothing = await listen({ toolsListChanged: true });
    expect(nothing.heard[0]?.params).toMatchObject({ notifications: {} });
  });

  it('tells of a resource that appeared, changed and went, and of no other', async () => {
    const listener = await listen({ resourceSubscriptions: ['kv://a', 'kv://last', 'disk://f'] });
    await keep('b', 1);
    await keep('a', 1);
    expect(await listener.next(1)).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/resources/updated',
      params: { uri: 'kv://a', _meta: { [SUBSCRIPTION]: 7 } },
    });
    await gateway.call('DELETE', '/v1/kv/a');
    await listener.next(2);
    await gateway.call('PUT', '/v1/files/f', { body: { a: 1 } });
    await listener.next(3);
    const heard = await settled(listener, 'last');
    expect(heard).toEqual([
      'updated kv://a',
      'updated kv://a',
      'updated disk://f',
      'updated kv://last',
    ]);
  });

  it('tells many changes of one resource as few', async () => {
    const listener = await listen({ resourceSubscriptions: ['kv://a', 'kv://last'] });
    for (let n = 0; n < 30; n += 1) await keep('a', n);
    const heard = await settled(listener, 'last');
    expect(heard.filter((line) => line === 'updated kv://a').length).toBeLessThan(15);
  });

  it('tells of the list when something on the disk or in the inbox changed', async () => {
    const hook = await gateway.addSource({ name: 'shop' });
    const listener = await listen({ resourcesListChanged: true });
    await keep('a', 1);
    await listener.next(1);
    const { body } = await gateway.deliver(hook, '{"type":"order"}');
    await listener.next(2);
    await gateway.call('POST', '/v1/inbox/claim', { body: { event_id: body['event_id'] } });
    await listener.next(3);
    expect(told(listener.heard.slice(1))).toEqual(['list_changed', 'list_changed', 'list_changed']);
  });

  it('follows an event through its states', async () => {
    const hook = await gateway.addSource({ name: 'shop' });
    const { body } = await gateway.deliver(hook, '{"type":"order"}');
    const event_id = String(body['event_id']);
    const listener = await listen({ resourceSubscriptions: [`inbox://${event_id}`] });
    const claim = await gateway.call('POST', '/v1/inbox/claim', { body: { event_id } });
    await listener.next(1);
    const { lease_id } = claim.body;
    await gateway.call('POST', '/v1/inbox/ack', { body: { event_id, lease_id } });
    await listener.next(2);
    expect(told(listener.heard.slice(1))).toEqual([
      `updated inbox://${event_id}`,
      `updated inbox://${event_id}`,
    ]);
  });

  it('tells a key nothing beyond its scopes', async () => {
    const ofInbox = new Agent(gateway.url, await gateway.key('inbox:read'));
    const filter = { resourcesListChanged: true, resourceSubscriptions: ['kv://a', 'inbox://e'] };
    const listener = await listen(filter, ofInbox);
    expect(listener.heard[0]?.params).toMatchObject({
      notifications: { resourcesListChanged: true, resourceSubscriptions: ['inbox://e'] },
    });
    const hook = await gateway.addSource({ name: 'shop' });
    await keep('a', 1);
    await gateway.deliver(hook, '{"type":"order"}');
    await listener.next(1);
    expect(told(listener.heard.slice(1))).toEqual(['list_changed']);
    const ofNone = new Agent(gateway.url, await gateway.key('send'));
    const deaf = await listen(filter, ofNone);
    expect(deaf.heard[0]?.params).toMatchObject({ notifications: {} });
  });

  it('ends with the key', async () => {
    const created = await gateway.call('POST', '/v1/keys', {
      body: { name: 'short', scopes: ['disk'] },
    });
    const ofKey = new Agent(gateway.url, String(created.body['api_key']));
    const listener = await listen({ resourcesListChanged: true }, ofKey);
    const { id } = created.body;
    await gateway.call('DELETE', `/v1/keys/${String(id)}`);
    const heard = await listener.over();
    expect(heard.at(-1)).toMatchObject({
      id: 7,
      error: { code: 401, message: expect.stringMatching(/^KEY_REVOKED: /) },
    });
  });

  it('is answered when the server ends', async () => {
    const listener = await listen({ resourcesListChanged: true });
    await gateway.gateway.endWaits();
    const heard = await listener.over();
    expect(heard.at(-1)).toEqual({
      jsonrpc: '2.0',
      id: 7,
      result: {
        resultType: 'complete',
        _meta: { [SUBSCRIPTION]: 7, 'io.modelcontextprotocol/serverInfo': expect.any(Object) },
      },
    });
    expect(await agent.modern('subscriptions/listen', { notifications: {} })).toMatchObject({
      status: 503,
      error: { code: 503, data: { code: 'UNAVAILABLE' } },
    });
  });

  it('has room for 25 of a key, and again for who comes after one that left', async () => {
    const listeners = await Promise.all(
      Array.from({ length: 25 }, () => listen({ resourcesListChanged: true })),
    );
    const filter = { notifications: { resourcesListChanged: true } };
    expect(await agent.modern('subscriptions/listen', filter)).toMatchObject({
      status: 429,
      error: {
        code: 429,
        message: expect.stringContaining('25 of 25 subscriptions of this key are open'),
        data: { code: 'TOO_MANY_WAITS' },
      },
    });
    await listeners[0]?.leave();
    await expect.poll(async () => (await listen({}).catch(() => null)) !== null).toBe(true);
  });

  it.each([
    [{}, NO_FILTER],
    [{ notifications: [] }, NO_FILTER],
    [{ notifications: { resourcesListChanged: 1 } }, NO_FILTER],
    [{ notifications: { resourceSubscriptions: [7] } }, NO_FILTER],
    [
      { notifications: { resourceSubscriptions: Array.from({ length: 51 }, () => 'kv://a') } },
      'Invalid params: resourceSubscriptions must be at most 50 texts',
    ],
  ])('refuses %j', async (params, message) => {
    const answer = await agent.modern('subscriptions/listen', params);
    expect(answer).toMatchObject({ status: 200, error: { code: -32_602, message } });
  });
});

describe('a daemon with a copy of the project', () => {
  it('tells of what others wrote, once the copy has it', async () => {
    const daemon = await ReplicaDaemon.start(gateway.url, gateway);
    try {
      await daemon.until('local');
      const near = new Agent(daemon.url, gateway.apiKey);
      const listener = await listen(
        { resourcesListChanged: true, resourceSubscriptions: ['kv://a'] },
        near,
      );
      await keep('a', 1);
      await expect
        .poll(() => told(listener.heard.slice(1)))
        .toEqual(['list_changed', 'updated kv://a']);
      const { result } = await near.modern('resources/read', { uri: 'kv://a' });
      expect(result['contents']).toMatchObject([{ text: '1' }]);
      await daemon.down();
      expect((await listener.over()).at(-1)).toMatchObject({ id: 7, result: {} });
    } finally {
      await daemon.stop();
    }
  });
});

describe('several gateways over one store', () => {
  it('tell of what came in at another one', async () => {
    const pair = await Pair.start();
    try {
      await pair.acquainted();
      const { a, b } = pair;
      const at = new Agent(a.url, a.apiKey);
      const listener = await listen({ resourceSubscriptions: ['kv://a'] }, at);
      await b.call('PUT', '/v1/kv/a', { body: 1 });
      await listener.next(1);
      expect(told(listener.heard.slice(1))).toEqual(['updated kv://a']);
      await listener.leave();
    } finally {
      await pair.stop();
    }
  });
});
