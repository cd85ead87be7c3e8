import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TestGateway } from '../../../helpers/gateway.ts';

interface Taken {
  readonly items: {
    id: string;
    status: string;
    attempts: number;
    payload: unknown;
    payload_url: string | null;
    lease_id: string;
    lease_expires_at: string;
    resumed?: { because: string; state: unknown };
  }[];
  readonly warnings?: string[];
  readonly error?: { code: string };
}

let test: TestGateway;
let url: string;
let deliveries = 0;
beforeEach(async () => {
  test = await TestGateway.start();
  url = await test.addSource({ name: 'open' });
});
afterEach(() => test.stop());

function next(body: Record<string, unknown> = {}, idempotencyKey?: string, signal?: AbortSignal) {
  return fetch(`${test.url}/v1/inbox/next`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${test.apiKey}`,
      'content-type': 'application/json',
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
    },
    body: JSON.stringify({ timeout_seconds: 1, ...body }),
    ...(signal && { signal }),
  }).then(async (response) => (await response.json()) as Taken);
}

const ids = ({ items }: Taken): string[] => items.map(({ id }) => id);

async function arrived(content?: string): Promise<string> {
  deliveries += 1;
  const answer = await test.deliver(url, content ?? `{"n":${deliveries}}`);
  return String(answer.body['event_id']);
}

async function arrivedMany(count: number): Promise<string[]> {
  const all: string[] = [];
  while (all.length < count) all.push(await arrived());
  return all;
}

async function waiting(count: number): Promise<void> {
  const project = await test.gateway.projects.find(test.projectId);
  await expect.poll(() => project?.waits.size, { interval: 5 }).toBe(count);
}

async function statusOf(id: string): Promise<string> {
  const { body } = await test.call<{ status: string }>('GET', `/v1/inbox/events/${id}`);
  return body.status;
}

async function entries(query = ''): Promise<string[]> {
  const { body } = await test.call<{ items: { op: string }[] }>('GET', `/v1/ledger?${query}`);
  return body.items.map(({ op }) => op);
}

describe('inbox_next', () => {
  it('claims what is pending, oldest first, each with its own lease', async () => {
    const [first = '', second = '', third = ''] = await arrivedMany(3);
    const taken = await next({ max: 2, lease_seconds: 60 });
    expect(ids(taken)).toEqual([first, second]);
    const [a, b] = taken.items;
    expect(a).toMatchObject({ status: 'claimed', payload: { text: expect.any(String) } });
    expect(a?.lease_id).not.toBe(b?.lease_id);
    const lease = { event_id: first, lease_id: b?.lease_id };
    const refused = await test.call<Taken>('POST', '/v1/inbox/ack', { body: lease });
    expect(refused.body.error?.code).toBe('LEASE_NOT_HELD');
    expect(await statusOf(third)).toBe('pending');
  });

  it('waits for the first event, and claims it', async () => {
    const call = next({ timeout_seconds: 20 });
    await waiting(1);
    const id = await arrived();
    expect(ids(await call)).toEqual([id]);
    expect(await entries(`subject=${id}`)).toContain('inbox_next');
  });

  it('answers nothing at the timeout, and writes nothing', async () => {
    await arrived();
    const before = (await entries()).length;
    expect(await next({ type: 'never' })).toEqual({ items: [] });
    expect(await next({ source: 'nobody' })).toMatchObject({
      items: [],
      warnings: [expect.stringContaining('nobody')],
    });
    expect((await entries()).length).toBe(before);
  });

  it('gives each event to one of many that wait, and the others wait on', async () => {
    const calls = Array.from({ length: 8 }, () => next({ timeout_seconds: 20 }));
    await waiting(8);
    const sent = await arrivedMany(8);
    const taken = (await Promise.all(calls)).flatMap(ids);
    expect(taken.toSorted()).toEqual(sent.toSorted());
  });

  it('names each event of a batch in the ledger', async () => {
    const sent = await arrivedMany(2);
    await next({ max: 10 });
    for (const id of sent) expect(await entries(`subject=${id}`)).toContain('event.claimed');
  });

  it('stops a batch where its bodies reach 1 MB', async () => {
    const text = 'x'.repeat(240 * 1024);
    for (let n = 0; n < 6; n += 1) await arrived(`"${n}${text}"`);
    expect((await next({ max: 100 })).items).toHaveLength(4);
    expect((await next({ max: 100 })).items).toHaveLength(2);
  });
});

describe('a repeat of inbox_next under its Idempotency-Key', () => {
  it('answers the same claims, byte for byte, whatever became of the events since', async () => {
    const [first = ''] = await arrivedMany(2);
    const taken = await next({}, 'again');
    expect(ids(taken)).toEqual([first]);
    expect(JSON.stringify(await next({}, 'again'))).toBe(JSON.stringify(taken));
    const lease_id = taken.items[0]?.lease_id;
    const body = { event_id: first, lease_id, result: 'done' };
    await test.call('POST', '/v1/inbox/ack', { body });
    expect(await statusOf(first)).toBe('done');
    expect(JSON.stringify(await next({}, 'again'))).toBe(JSON.stringify(taken));
  });

  it('waits anew where the first call found nothing', async () => {
    expect(ids(await next({}, 'later'))).toEqual([]);
    const id = await arrived();
    expect(ids(await next({}, 'later'))).toEqual([id]);
  });

  it('finds nothing claimed for a caller that has gone', async () => {
    const gone = new AbortController();
    const lost = next({ timeout_seconds: 20 }, 'gone', gone.signal).catch(() => null);
    await waiting(1);
    gone.abort();
    await lost;
    await waiting(0);
    const id = await arrived();
    expect(await statusOf(id)).toBe('pending');
    expect(ids(await next({ timeout_seconds: 20 }, 'gone'))).toEqual([id]);
  });

  it('claims nothing once max 0 has ended it, and keeps what it claimed before', async () => {
    expect(ids(await next({}, 'ended'))).toEqual([]);
    expect(await next({ max: 0 }, 'ended')).toEqual({ items: [] });
    const id = await arrived();
    const late = await next({}, 'ended');
    expect(late.error).toMatchObject({ code: 'VALIDATION_FAILED' });
    expect(await statusOf(id)).toBe('pending');
    expect(await next({ max: 0 }, 'ended')).toEqual({ items: [] });
    expect(ids(await next({}, 'claimed'))).toEqual([id]);
    expect((await next({ max: 0 }, 'claimed')).error).toMatchObject({ code: 'VALIDATION_FAILED' });
    expect(ids(await next({}, 'claimed'))).toEqual([id]);
  });
});
