import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Pair } from './pair.ts';

let pair: Pair;
let path: string;
beforeEach(async () => {
  pair = await Pair.start();
  await pair.acquainted();
  path = new URL(await pair.a.addSource({ name: 'open' })).pathname;
});
afterEach(() => pair.stop());

/** By the first gateway. */
async function deliver(id: string, text = 'same'): Promise<void> {
  const { body } = await pair.a.deliver(pair.a.url + path, text, { 'webhook-id': id });
  expect(body['status']).toBe('accepted');
}

async function replays(): Promise<boolean[]> {
  const { body } = await pair.a.call<{ items: { suspected_replay: boolean }[] }>(
    'GET',
    '/v1/inbox',
  );
  return body.items.map((item) => item.suspected_replay);
}

describe('a body that comes again under another id is marked', () => {
  it('when another gateway wrote first, so that it was stored at the second attempt', async () => {
    await deliver('first');
    await pair.b.call('PUT', '/v1/kv/key', { body: 1 });
    for (const n of [1, 2]) await deliver(`other ${n}`, `other ${n}`);
    // Nobody else has written for a while, so the next attempt begins before it is known that somebody has.
    await pair.b.call('PUT', '/v1/kv/key', { body: 2 });
    await deliver('second');
    expect(await replays()).toEqual([false, false, false, true]);
  });

  it('whichever request of the first attempt was cut off', async () => {
    await deliver('first');
    const { faults } = pair.shared.server;
    const drops = faults.drops.bind(faults);
    const afters = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
    for (const after of afters) {
      let left = after;
      faults.drops = (hasCommitted) => {
        left -= 1;
        if (left === 0) faults.cutRequests(1);
        return drops(hasCommitted);
      };
      if (after === 0) faults.cutRequests(1);
      await deliver(`again ${after}`);
    }
    faults.drops = drops;
    expect(await replays()).toEqual([false, ...afters.map(() => true)]);
  });
});
