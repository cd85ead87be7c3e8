import { sign } from '@octokit/webhooks-methods';
import examples from '@octokit/webhooks-examples';
import { Stripe } from 'stripe';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestGateway } from '../../helpers/gateway.ts';

interface Event {
  readonly id: string;
  readonly type: string;
  readonly payload: unknown;
  readonly payload_truncated: boolean;
  readonly headers: Record<string, string>;
}

/** The package is one JSON file, which its types take for a module with a default. */
const webhooks = examples as unknown as readonly {
  readonly name: string;
  readonly examples: readonly Record<string, unknown>[];
}[];

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await TestGateway.start();
});
afterAll(() => gateway.stop());

async function inParallel<T>(items: readonly T[], width: number, run: (item: T) => Promise<void>) {
  const rest = [...items];
  const worker = async (): Promise<void> => {
    for (let item = rest.shift(); item !== undefined; item = rest.shift()) await run(item);
  };
  await Promise.all(Array.from({ length: width }, worker));
}

async function listAll(source: string, status = 'pending'): Promise<Event[]> {
  const events: Event[] = [];
  for (let cursor = ''; ;) {
    const path = `/v1/inbox?source=${source}&status=${status}&limit=100${cursor}`;
    const { body } = await gateway.call<{ items: Event[]; next_cursor: string | null }>(
      'GET',
      path,
    );
    events.push(...body.items);
    if (body.next_cursor === null) return events;
    cursor = `&cursor=${body.next_cursor}`;
  }
}

async function claimAndAck(id: string): Promise<Event> {
  const claimed = await gateway.call<Event>('POST', '/v1/inbox/claim', { body: { event_id: id } });
  expect(claimed.status).toBe(200);
  const acked = await gateway.call('POST', '/v1/inbox/ack', { body: { event_id: id } });
  expect(acked).toMatchObject({ status: 200, body: { status: 'done' } });
  return claimed.body;
}

describe('every example GitHub documents', () => {
  it('goes in signed, is typed by event and action, claimed whole, and acked', async () => {
    const url = await gateway.addSource({ name: 'github', verification: 'github', secret: 'gh' });
    const deliveries = webhooks.flatMap(({ name, examples: payloads }) =>
      payloads.map((payload, index) => ({ name, delivery: `${name}-${index}`, payload })),
    );
    expect(deliveries.length).toBe(329);
    const sent = new Map<string, { type: string; payload: unknown }>();
    await inParallel(deliveries, 16, async ({ name, delivery, payload }) => {
      const text = JSON.stringify(payload);
      const answer = await gateway.deliver(url, text, {
        'content-type': 'application/json',
        'user-agent': 'GitHub-Hookshot/044aadd',
        'x-github-event': name,
        'x-github-delivery': delivery,
        'x-hub-signature-256': await sign('gh', text),
      });
      expect(answer).toMatchObject({ status: 200, body: { status: 'accepted' } });
      const action = typeof payload['action'] === 'string' ? `.${payload['action']}` : '';
      sent.set(String(answer.body['event_id']), { type: name + action, payload });
    });
    expect(sent.size).toBe(deliveries.length);

    const listed = await listAll('github');
    expect(listed.map(({ id }) => id).toSorted()).toEqual([...sent.keys()].toSorted());
    for (const { id, type } of listed)
      expect({ id, type }).toEqual({ id, type: sent.get(id)?.type });
    const [large, whole] = [true, false].map((isLarge) =>
      listed.filter((event) => event.payload_truncated === isLarge),
    );
    for (const { id, payload } of whole ?? []) expect(payload).toEqual(sent.get(id)?.payload);

    // The large ones, of which a list shows the beginning, and as many others.
    expect(large?.length).toBeGreaterThan(0);
    const claims = [...(large ?? []), ...(whole ?? []).slice(0, large?.length)];
    await inParallel(claims, 16, async ({ id }) => {
      const claimed = await claimAndAck(id);
      expect(claimed.payload).toEqual(sent.get(id)?.payload);
      expect(claimed.headers['x-hub-signature-256']).toBeUndefined();
    });
    expect(await listAll('github')).toHaveLength(deliveries.length - claims.length);
    expect(await listAll('github', 'done')).toHaveLength(claims.length);
  });

  it('comes as a form just the same', async () => {
    const url = await gateway.addSource({ name: 'form', verification: 'github', secret: 'gh' });
    const text = `payload=${encodeURIComponent(JSON.stringify({ action: 'opened', n: 1 }))}`;
    const answer = await gateway.deliver(url, text, {
      'content-type': 'application/x-www-form-urlencoded',
      'x-github-event': 'issues',
      'x-github-delivery': 'form-1',
      'x-hub-signature-256': await sign('gh', text),
    });
    const claimed = await claimAndAck(String(answer.body['event_id']));
    expect(claimed.type).toBe('issues.opened');
    expect(claimed.payload).toEqual({ payload: '{"action":"opened","n":1}' });
  });
});

describe('events of Stripe', () => {
  it('go in signed, keep their types, and come once however often they are sent', async () => {
    const secret = 'whsec_test';
    const url = await gateway.addSource({ name: 'stripe', verification: 'stripe', secret });
    const types = [
      'invoice.paid',
      'charge.refunded',
      'customer.subscription.deleted',
      'payout.failed',
    ];
    const ids = new Map<string, string>();
    for (const round of ['first', 'again']) {
      for (const type of types) {
        const payload = JSON.stringify({
          id: `evt_${type}`,
          object: 'event',
          type,
          livemode: false,
        });
        const signature = Stripe.webhooks.generateTestHeaderString({ payload, secret });
        const answer = await gateway.deliver(url, payload, {
          'content-type': 'application/json; charset=utf-8',
          'stripe-signature': signature,
        });
        const status = round === 'first' ? 'accepted' : 'duplicate';
        expect(answer.body['status']).toBe(status);
        const id = String(answer.body['event_id']);
        expect(ids.get(type) ?? id).toBe(id);
        ids.set(type, id);
      }
    }
    const listed = await listAll('stripe');
    expect(listed.map(({ type }) => type)).toEqual(types);
    for (const { id } of listed) await claimAndAck(id);
    const prefix = await gateway.call<{ items: Event[] }>(
      'GET',
      '/v1/inbox?status=done&type=customer.*',
    );
    expect(prefix.body.items.map(({ type }) => type)).toEqual(['customer.subscription.deleted']);
  });
});

describe('after all of that', () => {
  it('the ledger verifies, with one entry for each step', async () => {
    const verified = await gateway.call('POST', '/v1/ledger/verify', { body: {} });
    expect(verified.body).toMatchObject({ ok: true, anchored: true, first_bad_seq: null });
    const done = (await listAll('github', 'done')).length + 1 + 4;
    const pending = (await listAll('github')).length;
    // The owner, a key, three sources, for each event its receipt, and for most a claim and an ack.
    expect(verified.body['checked']).toBe(1 + 1 + 3 + pending + 3 * done);
  });
});
