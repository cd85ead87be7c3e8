import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../helpers/gateway.ts';
import { writerOf } from '../../helpers/writers.ts';
import { Pair } from './pair.ts';

interface Failed {
  readonly error?: { readonly code: string };
}

let pair: Pair;
let clock: FakeClock;
beforeEach(async () => {
  clock = new FakeClock();
  pair = await Pair.start({ clock });
});
afterEach(() => pair.stop());

const statusesOf = (answers: readonly { status: number }[]): number[] =>
  answers.map(({ status }) => status).toSorted((one, other) => one - other);

const times = <T>(count: number, work: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => work(n)));

async function newEvent(url: string, text: string): Promise<string> {
  return String((await pair.a.deliver(url, text)).body['event_id']);
}

describe('a claim over two gateways', () => {
  it('is won by one of ten, and its holder alone finishes it, by either gateway', async () => {
    const url = await pair.a.addSource({ name: 'open' });
    const keys = await times(10, () => pair.a.key('inbox:read', 'inbox:write'));
    for (let round = 0; round < 2; round += 1) {
      const event_id = await newEvent(url, `round ${round}`);
      const claims = await Promise.all(
        keys.map((key, n) =>
          pair.nth(n).call('POST', '/v1/inbox/claim', { body: { event_id }, key }),
        ),
      );
      expect(statusesOf(claims)).toEqual([200, ...Array<number>(9).fill(409)]);
      const winner = claims.findIndex(({ status }) => status === 200);
      const finish = round % 2 === 0 ? 'ack' : 'nack';
      const finished = await Promise.all(
        keys.map((key, n) =>
          // The winner by the other gateway than the one that gave it the claim.
          pair.nth(n + 1).call('POST', `/v1/inbox/${finish}`, {
            body: { event_id, ...(finish === 'nack' && { reason: 'not today' }) },
            key,
          }),
        ),
      );
      expect(finished.map(({ status }) => status === 200)).toEqual(
        keys.map((_key, n) => n === winner),
      );
    }
  });
});

describe('deliveries over two gateways', () => {
  it('are taken once each, and marked when the same bytes came under another id', async () => {
    const path = new URL(await pair.a.addSource({ name: 'open' })).pathname;
    const send = (n: number, body: string, id: string) =>
      pair.nth(n).deliver(pair.nth(n).url + path, body, { 'webhook-id': id });
    // Each id by both gateways.
    const answers = await times(32, (n) => {
      const nth = Math.floor(n / 2) % 8;
      return send(n, `body ${nth}`, `id ${nth}`);
    });
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const ids = new Set(answers.map(({ body }) => body['event_id']));
    expect(ids.size).toBe(8);
    expect(answers.filter(({ body }) => body['status'] === 'accepted')).toHaveLength(8);
    const { body } = await pair.b.call<{ items: unknown[] }>('GET', '/v1/inbox?limit=100');
    expect(body.items).toHaveLength(8);
    const again = await times(8, (n) => send(n, `body ${n}`, `other id ${n}`));
    expect(new Set(again.map((one) => one.body['status']))).toEqual(new Set(['accepted']));
    type Replay = { id: string; suspected_replay: boolean };
    const { body: all } = await pair.a.call<{ items: Replay[] }>('GET', '/v1/inbox?limit=100');
    const replays = all.items.filter(({ suspected_replay }) => suspected_replay);
    expect(new Set(replays.map(({ id }) => id))).toEqual(
      new Set(again.map((one) => one.body['event_id'])),
    );
  });

  it('without an id are one event for the same bytes', async () => {
    const path = new URL(await pair.a.addSource({ name: 'open' })).pathname;
    const answers = await times(32, (n) => pair.nth(n).deliver(pair.nth(n).url + path, 'same'));
    expect(answers.filter(({ body }) => body['status'] === 'accepted')).toHaveLength(1);
    expect(new Set(answers.map(({ body }) => body['event_id'])).size).toBe(1);
  });
});

describe('the ledger', () => {
  it('is one chain after a mixed load on both gateways', async () => {
    const url = await pair.a.addSource({ name: 'open' });
    const path = new URL(url).pathname;
    const answers = await times(60, (n) => {
      const gateway = pair.nth(n);
      if (n % 3 === 0) return gateway.deliver(gateway.url + path, `body ${n}`);
      if (n % 3 === 1) {
        return gateway.call('PUT', `/v1/kv/key-${n}`, { body: n, key: pair.a.apiKey });
      }
      return gateway.call('POST', '/v1/inbox/claim', { body: { event_id: 'evt_none' } });
    });
    expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
    for (const gateway of [pair.a, pair.b]) {
      const { body } = await gateway.call('POST', '/v1/ledger/verify', { body: {} });
      expect(body).toMatchObject({ ok: true });
    }
    const { body } = await pair.b.call<{ items: { op: string }[] }>('GET', '/v1/ledger?limit=500');
    expect(body.items.filter(({ op }) => op === 'kv_set')).toHaveLength(20);
  });
});

describe('a value under If-Match', () => {
  it('is replaced by one of those who have read the same', async () => {
    await pair.a.call('PUT', '/v1/kv/counter', { body: 0 });
    for (let round = 0; round < 2; round += 1) {
      const { headers } = await pair.b.call('GET', '/v1/kv/counter');
      const etag = headers.get('etag') ?? '';
      expect(etag).not.toBe('');
      const answers = await times(10, (n) =>
        pair
          .nth(n)
          .call<Failed>('PUT', '/v1/kv/counter', { body: n, headers: { 'if-match': etag } }),
      );
      expect(statusesOf(answers)).toEqual([200, ...Array<number>(9).fill(412)]);
    }
  });
});

describe('the limits of the disk', () => {
  const limits = { keys: 10_000, bytes: 1_073_741_824 };

  it('are exact under writers on both: as many keys as there is room for', async () => {
    const project = await pair.project(pair.a);
    await writerOf(project).write(({ disk }) => disk.add('keys', limits.keys - 7));
    const answers = await times(24, (n) => pair.nth(n).call('PUT', `/v1/kv/k${n}`, { body: n }));
    expect(statusesOf(answers)).toEqual([
      ...Array<number>(7).fill(200),
      ...Array<number>(17).fill(409),
    ]);
    const { body } = await pair.b.call('GET', '/v1/usage');
    expect(body['keys']).toEqual({ used: limits.keys, limit: limits.keys });
  });

  it('are exact under writers on both: as many bytes as there is room for', async () => {
    const project = await pair.project(pair.a);
    await writerOf(project).write(({ disk }) => disk.add('file_bytes', limits.bytes - 250));
    // 50 bytes of JSON each.
    const body = 'x'.repeat(48);
    const answers = await times(16, (n) => pair.nth(n).call('PUT', `/v1/kv/k${n}`, { body }));
    expect(statusesOf(answers)).toEqual([
      ...Array<number>(5).fill(200),
      ...Array<number>(11).fill(409),
    ]);
  });
});

describe('an Idempotency-Key on both gateways at once', () => {
  it('has one effect and one answer', async () => {
    for (let round = 0; round < 2; round += 1) {
      const answers = await times(6, (n) =>
        pair.nth(n).call<{ key: { id: string }; api_key: string } & Failed>('POST', '/v1/keys', {
          body: { name: `round ${round}`, scopes: ['inbox:read'] },
          headers: { 'idempotency-key': `once ${round}` },
        }),
      );
      const made = answers.filter(({ status }) => status === 201);
      // A gateway that is at it refuses a repeat.
      expect(statusesOf(answers.filter(({ status }) => status !== 201))).toEqual(
        Array<number>(6 - made.length).fill(409),
      );
      expect(made.length).toBeGreaterThan(0);
      expect(new Set(made.map(({ body }) => JSON.stringify(body))).size).toBe(1);
      const { body } = await pair.b.call<{ items: { name: string }[] }>('GET', '/v1/keys');
      expect(body.items.filter(({ name }) => name === `round ${round}`)).toHaveLength(1);
    }
  });
});
