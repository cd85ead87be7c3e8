import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withRawDatabase } from '../helpers/database.ts';
import { TestGateway } from '../helpers/gateway.ts';
import { LossyProxy } from '../helpers/lossy-proxy.ts';
import { ReplicaDaemon } from '../helpers/replica-daemon.ts';

/** From before the first byte to within the headers or the body, of a request as of an answer. */
const CUTS = [0, 1, 17, 60, 180, 240];
const SIDES = ['request', 'answer'] as const;

let gateway: TestGateway;
let proxy: LossyProxy;
let daemon: ReplicaDaemon;
let hook = '';
beforeAll(async () => {
  gateway = await TestGateway.start();
  proxy = await LossyProxy.open(gateway.url);
  daemon = await ReplicaDaemon.start(proxy.url, gateway);
  await daemon.until('local');
  hook = await gateway.addSource({ name: 'open' });
});
afterAll(async () => {
  await daemon.stop();
  await proxy.down();
  await gateway.stop();
});

let count = 0;
const unique = (): string => `n${(count += 1)}`;

async function newEvent(): Promise<string> {
  const { body } = await gateway.deliver(hook, unique());
  return String(body['event_id']);
}

async function claimedEvent(): Promise<string> {
  const event_id = await newEvent();
  await gateway.call('POST', '/v1/inbox/claim', { body: { event_id } });
  return event_id;
}

interface Entry {
  readonly op: string;
  readonly subject: string | null;
  readonly outcome: string;
}

/** The ledger's entries about one subject, oldest first. */
async function ledgerOf(subject: string): Promise<string[]> {
  const { body } = await gateway.call<{ items: Entry[] }>('GET', '/v1/ledger?limit=500');
  return body.items
    .filter((entry) => entry.subject === subject && entry.outcome === 'ok')
    .map(({ op }) => op)
    .toReversed();
}

/** How many entries the ledger has. */
async function total(): Promise<number> {
  const { body } = await gateway.call<{ items: object[] }>('GET', '/v1/ledger?limit=500');
  return body.items.length;
}

const points = SIDES.flatMap((side) => CUTS.map((bytes) => [side, bytes] as const));

describe('a daemon whose line to the gateway breaks in the middle of a write', () => {
  it.each(points)('repeats it, and it is done once (%s, after %i bytes)', async (side, bytes) => {
    const event_id = await newEvent();
    const before = proxy.lost;
    proxy.breakIn(side, 'POST /v1/inbox/claim', bytes);
    const claimed = await daemon.call('POST', '/v1/inbox/claim', { body: { event_id } });
    expect([claimed.status, claimed.body]).toMatchObject([200, { id: event_id, attempts: 0 }]);
    proxy.breakIn(side, 'POST /v1/inbox/ack', bytes);
    const acked = await daemon.call('POST', '/v1/inbox/ack', { body: { event_id, result: bytes } });
    expect([acked.status, acked.body]).toMatchObject([200, { status: 'done' }]);
    expect(proxy.lost).toBe(before + 2);
    expect(await ledgerOf(event_id)).toEqual(['event.received', 'inbox_claim', 'inbox_ack']);
  });

  it.each(points)(
    'twice, says so, and a repeat of the caller has one effect (%s, after %i bytes)',
    async (side, bytes) => {
      const name = unique();
      proxy.breakIn(side, `PUT /v1/kv/${name}`, bytes, 2);
      const headers = { 'idempotency-key': name };
      const put = () => daemon.call('PUT', `/v1/kv/${name}`, { body: name, headers });
      expect(await put()).toMatchObject({
        status: 503,
        body: {
          error: { code: 'UNAVAILABLE', hint: expect.stringContaining('same idempotency key') },
        },
      });
      // Reads go on meanwhile, and the write may be seen or not.
      expect((await daemon.call('GET', '/v1/kv')).status).toBe(200);
      expect(await put()).toMatchObject({ status: 200, body: { key: name } });
      expect(await ledgerOf(name)).toEqual(['kv_set']);
    },
  );
});

describe('a client that is told nothing of what it has done', () => {
  const base64 = Buffer.from('bytes').toString('base64');
  const writes: [string, string, () => object | Promise<object>][] = [
    ['POST', '/v1/inbox/claim', async () => ({ event_id: await newEvent() })],
    ['POST', '/v1/inbox/nack', async () => ({ event_id: await claimedEvent(), reason: 'later' })],
    ['POST', '/v1/inbox/ack', async () => ({ event_id: await claimedEvent(), result: 1 })],
    ['POST', '/v1/keys', () => ({ name: unique(), scopes: ['inbox:read'] })],
    ['POST', '/v1/sources', () => ({ type: 'webhook', name: unique() })],
    ['POST', '/v1/requests', () => ({ question: unique(), wait_seconds: 0 })],
    ['PUT', '/v1/files/lost.txt', () => ({ content_base64: base64 })],
  ];

  it.each(writes)('gets the first answer of %s %s at every repeat', async (method, path, make) => {
    const body = JSON.stringify(await make());
    const headers = {
      authorization: `Bearer ${gateway.apiKey}`,
      'content-type': 'application/json',
      'idempotency-key': unique(),
    };
    const init = { method, headers, body };
    const send = async () => {
      const answer = await fetch(proxy.url + path, init);
      // A repeat has a link of its own to the bytes, which is good for an hour from then on.
      const { body_url: _, ...rest } = JSON.parse(await answer.text()) as Record<string, unknown>;
      return { status: answer.status, body: rest };
    };
    const before = await total();
    proxy.loseAnswersTo(`${method} ${path}`);
    await expect(send()).rejects.toThrow('fetch failed');
    const first = await send();
    expect(first.status).toBeLessThan(300);
    expect(await send()).toEqual(first);
    expect(await total()).toBe(before + 1);
  });

  it('may repeat an ack without a key: the result stays what it was', async () => {
    const event_id = await claimedEvent();
    const ack = (result: string) =>
      fetch(`${proxy.url}/v1/inbox/ack`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${gateway.apiKey}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify({ event_id, result }),
      });
    proxy.loseAnswersTo('POST /v1/inbox/ack');
    await expect(ack('first')).rejects.toThrow('fetch failed');
    expect((await ack('second')).status).toBe(200);
    const file = join(gateway.folder, 'projects', gateway.projectId, 'project.db');
    const stored = withRawDatabase(file, (raw) =>
      raw.get('SELECT status, result FROM event WHERE id = ?', [event_id]),
    );
    expect(stored).toEqual({ status: 'done', result: '"first"' });
  });
});
