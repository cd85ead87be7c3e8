import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeClock, TestGateway } from '../../../helpers/gateway.ts';
import { LOOPBACK, Receiver } from '../../callbacks/callback-receiver.ts';
import { Routes } from '../../../shared/operations/route/routes.ts';
import { claim, giveUp, placeOf } from './places.ts';
import { WebVisitor, type Page } from './web-visitor.ts';

/** A page with all that it loads. */
const PAGE_MAX_BYTES = 300_000;

const clock = new FakeClock();
let gateway: TestGateway;
let visitor: WebVisitor;
let receiver: Receiver;
let hook: string;

beforeAll(async () => {
  receiver = await Receiver.start();
  gateway = await TestGateway.start({ clock, callbackAllow: LOOPBACK });
  visitor = await WebVisitor.withKey(gateway);
  hook = await gateway.addSource({ name: 'shop' });
});
afterAll(async () => {
  await gateway.stop();
  await receiver.stop();
});

let count = 0;

async function event(payload: unknown, url = hook): Promise<string> {
  count += 1;
  const headers = { 'content-type': 'application/json', 'webhook-id': `d${count}` };
  const { body } = await gateway.deliver(url, JSON.stringify(payload), headers);
  return String(body['event_id']);
}

const page = async (id: string, query = ''): Promise<Page> =>
  visitor.get((await placeOf(gateway, 'events', id)) + query);

const stateOf = async (id: string): Promise<unknown> =>
  (await gateway.call('GET', `/v1/inbox/events/${id}`)).body['status'];

const unescaped = (html: string): string =>
  html.replaceAll('&amp;', '&').replaceAll('&quot;', '"').replaceAll('&#39;', "'");

async function assetBytes(): Promise<number> {
  const [style, script] = [await visitor.get('/ui/style.css'), await visitor.get('/ui/script.js')];
  return style.html.length + script.html.length;
}

describe('the tree of a payload', () => {
  it('has a line for each value, and each in its place', async () => {
    const id = await event({ order: { total: 4900, 'odd key': [null, true] }, note: 'a\nb' });
    const { html } = await page(id);
    expect(html).toContain('data-k=".order"');
    expect(unescaped(html)).toContain('data-k="["odd key"]"');
    expect(html).toMatch(
      /data-k=".total"[^>]*><span class="k">total<\/span><span class="v n">4900</,
    );
    expect(html).toContain('data-k="[1]"');
    expect(html).toContain('{ 2 fields }');
    expect(html).toContain('[ 2 items ]');
  });

  it('shows a part of a large payload, and leads to the rest', async () => {
    const rows = Array.from({ length: 900 }, (_, n) => ({
      sku: `sku-${n}`,
      text: 'x'.repeat(150),
    }));
    const id = await event({ first: { rows }, last: { note: 'seen at once' } });
    const whole = await page(id);
    expect(whole.html).toContain('seen at once');
    const links = [...unescaped(whole.html).matchAll(/href="(\?view=tree[^"]+)"/g)].map(
      ([, to]) => to,
    );
    const inner = links.find((one) => one?.includes('%2Ffirst%2Frows')) ?? '';
    const next = await page(id, inner);
    expect(next.html).toContain('aria-label="Place in the payload"');
    const late = await page(id, '?view=tree&at=%2Ffirst%2Frows&from=880');
    expect(late.html).toContain('sku-899');
    expect(late.html).toContain('data-base=".first.rows"');
    const one = await page(id, '?view=tree&at=%2Ffirst%2Frows%2F7%2Ftext');
    expect(one.html).toContain('x'.repeat(150));
    expect((await page(id, '?view=tree&at=%2Fnowhere')).html).toContain('data-base="."');
  });

  it('stays small, whatever was sent', async () => {
    const hostile = 'a\u200bб<'.repeat(100);
    const deep = (depth: number): unknown =>
      depth === 0 ? hostile : { [`k${depth}`]: deep(depth - 1) };
    const wide = Object.fromEntries(
      Array.from({ length: 5000 }, (_, n) => [`k${n}`, hostile.slice(0, 20)]),
    );
    const assets = await assetBytes();
    for (const payload of [
      Array.from({ length: 120 }, () => hostile),
      { deep: deep(120), more: Array.from({ length: 100 }, () => ({ a: hostile, b: [hostile] })) },
      wide,
      { text: 'a\u200b'.repeat(20_000) },
      Array.from({ length: 50_000 }, (_, n) => n),
      Object.fromEntries(
        Array.from({ length: 60 }, (_, n) => [
          `${n}${hostile.repeat(5)}`,
          { [hostile]: { [hostile]: [1] } },
        ]),
      ),
    ]) {
      const id = await event(payload);
      for (const query of ['', '?view=tree&open=all', '?view=raw', '?view=copy']) {
        const { html, status } = await page(id, query);
        expect([query, status]).toEqual([query, 200]);
        const bytes = Buffer.byteLength(html) + assets;
        expect([count, query, bytes < PAGE_MAX_BYTES ? 'fits' : bytes]).toEqual([
          count,
          query,
          'fits',
        ]);
      }
    }
  });

  it('shows hostile names and values as text', async () => {
    const id = await event({ '"><img src=x>\u202e': { x: '</li><script>1</script>' } });
    for (const query of ['', '?view=raw', '?view=copy']) {
      const { html } = await page(id, query);
      expect(html).not.toMatch(/<img|<script>1|\u202e/);
    }
  });

  it('is not cut at any line', async () => {
    const id = await event(
      Object.fromEntries(Array.from({ length: 99 }, (_, n) => [`line${n}`, n])),
    );
    for (const query of ['', '?view=raw']) expect((await page(id, query)).html).toContain('line98');
  });
});

describe('the commands of an event', () => {
  it('send it again with curl, and a like one with svc', async () => {
    const { html } = await page(await event({ total: 42 }), '?view=copy');
    expect(unescaped(html)).toContain(`--data-raw '{"total":42}'`);
    expect(html).toContain('svc trigger webhook --source shop');
  });
});

/** Presses a button of an event, and the one of the question after it. */
const act = async (id: string, step: string): Promise<void> => {
  const asked = await page(id, `?step=${step}`);
  expect(asked.html).toContain(`value="${step}"`);
  const { location } = await visitor.post(await placeOf(gateway, 'events', id), {
    fields: { act: step },
  });
  expect(location).toBe(await placeOf(gateway, 'events', id));
};

describe('a person', () => {
  it('releases a lease: another agent can claim the event, and the first one is refused', async () => {
    const id = await event({});
    const lease = await claim(gateway, id);
    expect((await page(id)).html).toContain(lease);
    await act(id, 'release');
    expect(await stateOf(id)).toBe('pending');
    const ack = await gateway.call('POST', '/v1/inbox/ack', {
      body: { event_id: id, lease_id: lease },
    });
    expect(ack.status).toBe(409);
    await claim(gateway, id);
    const { html } = await page(id);
    expect(html).toContain('Lease released by a person');
  });

  it('marks an event as done or discards it, and may replay it', async () => {
    const [done, dead] = [await event({}), await event({})];
    await giveUp(gateway, dead, 'No.');
    await act(done, 'finish');
    await act(dead, 'discard');
    expect([await stateOf(done), await stateOf(dead)]).toEqual(['done', 'done']);
    expect((await page(done)).html).toMatch(/Marked as done by a person.*?in the web inbox/s);
    await act(done, 'replay');
    expect(await stateOf(done)).toBe('pending');
  });

  it('withdraws the questions about an event that they end, and wakes what waited for it', async () => {
    const [first, second] = [await event({}), await event({})];
    await claim(gateway, first);
    const question = { question: 'Which one?', wait_seconds: 0, event_id: first, park: true };
    const asked = await gateway.call('POST', '/v1/requests', { body: question });
    await claim(gateway, second);
    await gateway.call('POST', '/v1/inbox/nack', { body: { event_id: second, until: [first] } });
    expect(await stateOf(second)).toBe('waiting');
    expect((await page(first)).html).toMatch(
      new RegExp(`/requests/${String(asked.body['request_id'])}">Question<.*?pending, asked at`),
    );
    await act(first, 'finish');
    const request = await gateway.call('GET', `/v1/requests/${String(asked.body['request_id'])}`);
    expect(request.body['status']).not.toBe('pending');
    expect(await stateOf(second)).toBe('pending');
  });

  it('cannot do what the state does not allow', async () => {
    const id = await event({});
    await claim(gateway, id);
    for (const step of ['finish', 'discard', 'requeue']) {
      expect((await page(id, `?step=${step}`)).html).not.toContain(`value="${step}"`);
      const answer = await visitor.post(await placeOf(gateway, 'events', id), {
        fields: { act: step },
      });
      expect([step, answer.status]).toEqual([step, 409]);
    }
    expect(await stateOf(id)).toBe('claimed');
  });
});

describe('the history of an event', () => {
  it('has its steps in order, with the time between, agents, keys and entries', async () => {
    const id = await event({});
    clock.advance(2000);
    await gateway.call('POST', '/v1/inbox/claim', {
      body: { event_id: id },
      headers: { 'x-service-agent': 'worker-7' },
    });
    clock.advance(65_000);
    await gateway.call('POST', '/v1/inbox/ack', { body: { event_id: id, result: 'ok' } });
    const { html } = await page(id);
    expect(html).toMatch(
      /<p>Received<.*?2\.0 s later.*?<p>Claimed<.*?worker-7.*?key .*?1 min later.*?<p>Done</s,
    );
    expect(html).toMatch(/href="[^"]*\/ledger\/\d+">Entry \d+</);
    expect(html).toContain('1 min from its arrival to its end');
  });

  it('has the deliveries of routes with their answers', async () => {
    const routed = await gateway.addSource({ name: 'routed' });
    const route = await new Routes(gateway).add(receiver.url(), { match_source: 'routed' });
    const id = await event({}, routed);
    await expect.poll(() => stateOf(id)).toBe('done');
    const { html } = await page(id);
    expect(html).toMatch(/Delivered to .*?Attempt 1 · 2\d\d in \d+ ms/s);
    expect(html).toContain(`/routes/${route.id}"`);
  });
});
