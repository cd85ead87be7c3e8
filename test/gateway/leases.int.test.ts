import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { caller, type Call } from '../helpers/calls.ts';
import { FakeClock, TestGateway } from '../helpers/gateway.ts';

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

/** Brings an event into a situation, seen from `mine`; returns the lease `mine` had, if any. */
const situations: Record<string, (event_id: string) => Promise<string | undefined>> = {
  'live lease of mine': (id) => claim(mine, id),
  'live lease of another key': async (id) => {
    await claim(theirs, id);
    return undefined;
  },
  'my lease ran out, nobody claimed': async (id) => {
    const lease = await claim(mine, id);
    clock.advance(30_000);
    return lease;
  },
  'my lease ran out, another claimed': async (id) => {
    const lease = await claim(mine, id);
    clock.advance(30_000);
    await claim(theirs, id);
    return lease;
  },
  'my lease ran out, I claimed again, old lease_id': async (id) => {
    const lease = await claim(mine, id);
    clock.advance(30_000);
    await claim(mine, id);
    return lease;
  },
  'done by me': async (id) => {
    const lease = await claim(mine, id);
    await mine('inbox_ack', { event_id: id, result: 'first' });
    return lease;
  },
  'done by another key': async (id) => {
    await claim(theirs, id);
    await theirs('inbox_ack', { event_id: id });
    return undefined;
  },
  dead: async (id) => {
    const lease = await claim(mine, id);
    await mine('inbox_nack', { event_id: id, reason: 'no', retry: false });
    return lease;
  },
  'pending, never claimed': () => Promise.resolve(undefined),
  'failed, in backoff': async (id) => {
    const lease = await claim(mine, id);
    await mine('inbox_nack', { event_id: id, reason: 'later' });
    return lease;
  },
};

const table: [situation: string, ack: string, nack: string, extend: string, claim: string][] = [
  ['live lease of mine', 'ok', 'ok', 'ok', 'EVENT_NOT_CLAIMABLE'],
  [
    'live lease of another key',
    'LEASE_NOT_HELD',
    'LEASE_NOT_HELD',
    'LEASE_NOT_HELD',
    'EVENT_NOT_CLAIMABLE',
  ],
  ['my lease ran out, nobody claimed', 'LEASE_EXPIRED', 'LEASE_EXPIRED', 'LEASE_EXPIRED', 'ok'],
  [
    'my lease ran out, another claimed',
    'LEASE_NOT_HELD',
    'LEASE_NOT_HELD',
    'LEASE_NOT_HELD',
    'EVENT_NOT_CLAIMABLE',
  ],
  [
    'my lease ran out, I claimed again, old lease_id',
    'LEASE_NOT_HELD',
    'LEASE_NOT_HELD',
    'LEASE_NOT_HELD',
    'EVENT_NOT_CLAIMABLE',
  ],
  ['done by me', 'ok', 'EVENT_NOT_CLAIMABLE', 'EVENT_NOT_CLAIMABLE', 'EVENT_NOT_CLAIMABLE'],
  [
    'done by another key',
    'EVENT_NOT_CLAIMABLE',
    'EVENT_NOT_CLAIMABLE',
    'EVENT_NOT_CLAIMABLE',
    'EVENT_NOT_CLAIMABLE',
  ],
  [
    'dead',
    'EVENT_NOT_CLAIMABLE',
    'EVENT_NOT_CLAIMABLE',
    'EVENT_NOT_CLAIMABLE',
    'EVENT_NOT_CLAIMABLE',
  ],
  [
    'pending, never claimed',
    'EVENT_NOT_CLAIMABLE',
    'EVENT_NOT_CLAIMABLE',
    'EVENT_NOT_CLAIMABLE',
    'ok',
  ],
  [
    'failed, in backoff',
    'EVENT_NOT_CLAIMABLE',
    'EVENT_NOT_CLAIMABLE',
    'EVENT_NOT_CLAIMABLE',
    'EVENT_NOT_CLAIMABLE',
  ],
];

describe('a call on an event', () => {
  it.each(table)('in the situation "%s"', async (situation, ack, nack, extend, claimAgain) => {
    const expected = {
      inbox_ack: ack,
      inbox_nack: nack,
      inbox_extend: extend,
      inbox_claim: claimAgain,
    };
    for (const [name, code] of Object.entries(expected)) {
      const event_id = await newEvent();
      const lease_id = await situations[situation]?.(event_id);
      const fenced = lease_id !== undefined && name !== 'inbox_claim' && { lease_id };
      const reason = name === 'inbox_nack' && { reason: 'table' };
      const answer = await mine(name, { event_id, ...fenced, ...reason });
      expect({ name, code: answer.code }).toEqual({ name, code });
    }
  });

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
