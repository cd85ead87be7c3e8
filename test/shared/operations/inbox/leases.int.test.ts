import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { caller, type Call } from '../../../helpers/calls.ts';
import { FakeClock, TestGateway } from '../../../helpers/gateway.ts';

let clock: FakeClock;
let gateway: TestGateway;
let url: string;
let mine: Call;
let theirs: Call;
let deliveries = 0;
beforeAll(async () => {
  clock = new FakeClock();
  gateway = await TestGateway.start({ clock });
  url = await gateway.addSource({ name: 'open' });
  mine = (await caller(gateway, await gateway.key('inbox:read', 'inbox:write'))).call;
  theirs = (await caller(gateway, await gateway.key('inbox:read', 'inbox:write'))).call;
});
afterAll(() => gateway.stop());

async function newEvent(): Promise<string> {
  deliveries += 1;
  return String((await gateway.deliver(url, `body ${deliveries}`)).body['event_id']);
}

const claim = async (call: Call, event_id: string): Promise<string> => {
  const answer = await call('inbox_claim', { event_id, lease_seconds: 30 });
  expect(answer.code).toBe('ok');
  return String(answer.value['lease_id']);
};

describe('a call on an event', () => {
  it('of no project is NOT_FOUND, and of a wrong form VALIDATION_FAILED', async () => {
    const event_id = `evt_${'0'.repeat(26)}`;
    for (const name of ['inbox_claim', 'inbox_ack', 'inbox_extend', 'inbox_requeue']) {
      expect((await mine(name, { event_id })).code).toBe('NOT_FOUND');
      expect((await mine(name, { event_id: 'evt_1' })).code).toBe('VALIDATION_FAILED');
    }
  });
});

describe('an ack', () => {
  it('that is repeated keeps the first result and time, also without the lease id', async () => {
    const event_id = await newEvent();
    const lease_id = await claim(mine, event_id);
    const first = await mine('inbox_ack', { event_id, lease_id, result: { n: 1 } });
    clock.advance(5000);
    expect(await mine('inbox_ack', { event_id, result: { n: 2 } })).toEqual(first);
    expect(await mine('inbox_ack', { event_id, lease_id })).toEqual(first);
    expect((await mine('inbox_ack', { event_id, lease_id: 'lse_other' })).code).toBe(
      'EVENT_NOT_CLAIMABLE',
    );
    const stored = await gateway.gateway.projects.find(gateway.projectId);
    const row = await stored?.store.read(({ events }) => events.find(event_id));
    expect(row).toMatchObject({ status: 'done', due_at: null, lease_id });
  });

  it('takes a result of 4 KB, and no more', async () => {
    const event_id = await newEvent();
    await claim(mine, event_id);
    const result = 'é'.repeat(2047);
    expect(Buffer.byteLength(JSON.stringify(result))).toBe(4096);
    expect((await mine('inbox_ack', { event_id, result: `${result}x` })).code).toBe(
      'VALIDATION_FAILED',
    );
    expect((await mine('inbox_ack', { event_id, result })).code).toBe('ok');
  });
});

describe('a nack', () => {
  it('waits 30 s, 1, 2 and 4 minutes, then is dead', async () => {
    const event_id = await newEvent();
    for (const seconds of [30, 60, 120, 240]) {
      await claim(mine, event_id);
      const { value } = await mine('inbox_nack', { event_id, reason: 'x'.repeat(5000) });
      const retryAt = new Date(clock.now() + seconds * 1000).toISOString();
      expect(value).toMatchObject({ status: 'failed', retry_at: retryAt });
      clock.advance(seconds * 1000 - 1);
      expect((await mine('inbox_claim', { event_id })).code).toBe('EVENT_NOT_CLAIMABLE');
      clock.advance(1);
    }
    await claim(mine, event_id);
    const last = await mine('inbox_nack', { event_id, reason: 'no more' });
    expect(last.value).toEqual({ event_id, status: 'dead', attempts: 5, retry_at: null });
  });
});

describe('a race for one event', () => {
  it('has one winner', async () => {
    const event_id = await newEvent();
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, n) => (n % 2 ? mine : theirs)('inbox_claim', { event_id })),
    );
    expect(answers.filter(({ code }) => code === 'ok')).toHaveLength(1);
    expect(answers.filter(({ code }) => code === 'EVENT_NOT_CLAIMABLE')).toHaveLength(39);
  });

  it('of an ack against a nack is decided once', async () => {
    const event_id = await newEvent();
    await claim(mine, event_id);
    const [ack, nack] = await Promise.all([
      mine('inbox_ack', { event_id }),
      mine('inbox_nack', { event_id, reason: 'race' }),
    ]);
    expect([ack.code, nack.code].toSorted()).toEqual(['EVENT_NOT_CLAIMABLE', 'ok']);
  });
});
