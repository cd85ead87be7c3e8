import { afterEach, beforeEach, expect, it } from 'vitest';
import { LOOPBACK, Receiver } from '../callbacks/callback-receiver.ts';
import { Pair } from '../cluster/pair.ts';
import type { TestGateway } from '../../helpers/gateway.ts';
import type { Aftermath, Key } from './stage.ts';

let pair: Pair;
let receiver: Receiver;
beforeEach(async () => {
  pair = await Pair.start({ callbackAllow: LOOPBACK });
  receiver = await Receiver.start();
  await pair.acquainted();
});
afterEach(async () => {
  await pair.stop();
  await receiver.stop();
});

const newKey = async (gateway: TestGateway, key?: string): Promise<Key> => {
  const body = { name: 'side door', scopes: ['admin', 'inbox:read'] };
  return (await gateway.call<Key>('POST', '/v1/keys', { body, ...(key && { key }) })).body;
};
const status = async (gateway: TestGateway, key: string): Promise<number> =>
  (await gateway.call('GET', '/v1/inbox', { key })).status;

it('a key that was revoked on one gateway leaves nothing on the other, which it used a moment ago', async () => {
  const { id, api_key: key } = await newKey(pair.a);
  const child = await newKey(pair.b, key);
  const route = await pair.b.call<Key>('POST', '/v1/routes', {
    key: child.api_key,
    body: { callback_url: receiver.url('/route') },
  });
  expect([await status(pair.b, key), await status(pair.b, child.api_key)]).toEqual([200, 200]);
  const { body } = await pair.a.call<Aftermath>('DELETE', `/v1/keys/${id}`);
  expect(body.ended.map((one) => one.id).toSorted()).toEqual([child.id, route.body.id].toSorted());
  for (const gateway of [pair.b, pair.a]) {
    await expect.poll(() => status(gateway, key)).toBe(401);
    await expect.poll(() => status(gateway, child.api_key)).toBe(401);
  }
  const path = new URL(await pair.b.addSource({ name: 'later' })).pathname;
  const { body: came } = await pair.b.deliver(pair.b.url + path, '{"order":1}');
  const claim = { body: { event_id: came['event_id'] } };
  expect((await pair.b.call('POST', '/v1/inbox/claim', claim)).status).toBe(200);
  expect(receiver.got).toEqual([]);
});
