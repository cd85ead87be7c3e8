import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeClock, TestGateway } from '../../../helpers/gateway.ts';
import { claim, giveUp, placeOf } from './places.ts';
import { WebVisitor, type Page } from './web-visitor.ts';

const clock = new FakeClock();
let gateway: TestGateway;
let visitor: WebVisitor;
let list: string;
const hooks = new Map<string, string>();

beforeAll(async () => {
  gateway = await TestGateway.start({ clock });
  visitor = await WebVisitor.withKey(gateway);
  list = await placeOf(gateway, 'events');
});
afterAll(() => gateway.stop());

let count = 0;

/** A fresh event of a source, whose deliveries are not signed. Answers its id. */
async function event(payload: unknown, source = 'shop', headers = {}): Promise<string> {
  const hook = hooks.get(source) ?? (await gateway.addSource({ name: source }));
  hooks.set(source, hook);
  count += 1;
  const sent = { 'content-type': 'application/json', 'webhook-id': `d${count}`, ...headers };
  const { body } = await gateway.deliver(hook, JSON.stringify(payload), sent);
  return String(body['event_id']);
}

/** An event of the source `typed`, with its signature: its type is the sender's. */
async function signed(payload: { readonly type: string }): Promise<void> {
  count += 1;
  const body = JSON.stringify({ id: `evt_${count}`, object: 'event', data: {}, ...payload });
  const answer = await gateway.call<{ url: string; headers: Record<string, string> }>(
    'POST',
    '/v1/sources/typed/sign',
    { body: { body_base64: Buffer.from(body).toString('base64') } },
  );
  const headers = { 'content-type': 'application/json', ...answer.body.headers };
  await gateway.deliver(answer.body.url, body, headers);
}

const idsOn = ({ html }: Page): string[] =>
  [...html.matchAll(/data-event="(evt_\w+)"/g)].map(([, id = '']) => id);

const listed = async (query = ''): Promise<string[]> => idsOn(await visitor.get(list + query));

const finish = async (id: string): Promise<void> => {
  await claim(gateway, id);
  await gateway.call('POST', '/v1/inbox/ack', { body: { event_id: id, result: 'ok' } });
};

async function stateOf(id: string): Promise<string> {
  const { body } = await gateway.call('GET', `/v1/inbox/events/${id}`);
  return String(body['status']);
}

const opsOf = async (id: string): Promise<unknown[]> => {
  const { body } = await gateway.call<{ items: { op: string; platform: string }[] }>(
    'GET',
    `/v1/ledger?subject=${id}`,
  );
  return body.items.map(({ op, platform }) => `${op} ${platform}`);
};

/** How many events a state has, as its filter says. */
const numberOf = ({ html }: Page, state: string): number =>
  Number(new RegExp(`>${state} (\\d+)<`).exec(html)?.[1]);

describe('the list of events', () => {
  it('has the newest first, in every state, with a line of their content', async () => {
    const github = await event(
      {
        action: 'opened',
        number: 42,
        repository: { full_name: 'acme/api' },
        pull_request: { number: 42, title: 'Fix the login', body: 'x'.repeat(20_000) },
        sender: { login: 'ines' },
      },
      'code',
      { 'x-github-event': 'pull_request' },
    );
    const stripe = await event({
      object: 'event',
      type: 'invoice.paid',
      data: { object: { amount_paid: 4900, currency: 'eur', customer_email: 'ana@example.com' } },
    });
    const other = await event({ order: 7, note: '<b>by night</b>' });
    await giveUp(gateway, stripe, 'No.');
    const page = await visitor.get(list);
    expect(idsOn(page).slice(0, 3)).toEqual([other, stripe, github]);
    expect(page.html).toContain('acme/api · opened · #42 · Fix the login');
    expect(page.html).toContain('49.00 EUR · ana@example.com');
    expect(page.html).toContain('7 · &lt;b&gt;by night&lt;/b&gt;');
    expect(page.html).toMatch(/aria-current="true">All</);
  });

  it('counts the events of each state', async () => {
    const before = await visitor.get(list);
    const [done, late] = [await event({}), await event({})];
    await finish(done);
    await claim(gateway, late);
    const after = await visitor.get(list);
    const grown = ['Pending', 'Claimed', 'Waiting', 'Failed', 'Dead', 'Done'].map(
      (state) => numberOf(after, state) - numberOf(before, state),
    );
    expect(grown).toEqual([0, 1, 0, 0, 0, 1]);
    // Its lease has run out, although nothing has written that down.
    clock.advance(600_000);
    const later = await visitor.get(list);
    expect(numberOf(later, 'Claimed') - numberOf(before, 'Claimed')).toBe(0);
    expect(numberOf(later, 'Pending') - numberOf(before, 'Pending')).toBe(1);
    const ofSource = await visitor.get(`${list}?source=code`);
    expect([numberOf(ofSource, 'Pending'), numberOf(ofSource, 'Done')]).toEqual([1, 0]);
    expect((await visitor.get(`${list}?since=1h`)).html).toContain('>Pending<');
  });

  it('offers the known sources and types', async () => {
    const secret = 'whsec_abcdefghijklmnopqrstuvwx';
    await gateway.addSource({ name: 'typed', verification: 'stripe', secret });
    await signed({ type: 'order.paid' });
    await signed({ type: 'order.sent' });
    const { html } = await visitor.get(list);
    expect(html).toMatch(/<option value="code"[^>]*>code</);
    for (const type of ['order.*', 'order.paid', 'order.sent']) {
      expect([type, html.includes(`<option value="${type}"`)]).toEqual([type, true]);
    }
    expect(await listed('?type=order.*')).toHaveLength(2);
    expect(await listed('?type=order.sent&source=typed&status=pending')).toHaveLength(1);
    expect((await visitor.get(`${list}?type=gone.away`)).html).toContain(
      '<option value="gone.away" selected',
    );
  });

  it('goes on with older events, without one twice', async () => {
    for (let n = 0; n < 33; n += 1) await event({ n }, 'paged');
    const first = await visitor.get(`${list}?source=paged`);
    const next = /href="(\?[^"]*cursor[^"]*)"/.exec(first.html)?.[1]?.replaceAll('&amp;', '&');
    const second = await listed(next);
    expect([idsOn(first).length, second.length]).toEqual([30, 3]);
    expect(new Set([...idsOn(first), ...second]).size).toBe(33);
  });
});

describe('the search', () => {
  it('finds events by id, type, source and the text of their payload', async () => {
    const id = await event(
      { type: 'refund.asked', who: 'Zoë Ng', text: 'Where is my parcel?' },
      'mailroom',
    );
    for (const q of [id, 'refund.asked', 'mailroom', 'zoe', '"my parcel"', 'parc zoë']) {
      expect([q, await listed(`?${new URLSearchParams({ q }).toString()}`)]).toEqual([q, [id]]);
    }
    expect(await listed('?q=zoe&status=dead')).toEqual([]);
    expect(await listed('?q=zoe&source=mailroom&since=1h')).toEqual([id]);
    expect((await visitor.get(`${list}?q=nothing-like-it`)).html).toContain('No events match.');
  });

  it('says what is wrong with a search for nothing, and shows hostile words as text', async () => {
    expect((await visitor.get(`${list}?q=%23%23`)).html).toContain('at least one letter or digit');
    const { html, status } = await visitor.get(
      `${list}?${new URLSearchParams({ q: `"><script>x</script>' OR 1 NEAR(a b) *` }).toString()}`,
    );
    expect(status).toBe(200);
    expect(html).not.toContain('<script>x');
  });

  it('does not tell a key that only reads what is in a payload that it is not shown', async () => {
    const reader = await WebVisitor.withKey(gateway, await gateway.key('inbox:read'));
    const id = await event({ text: `hidden-needle ${'y'.repeat(10_000)}` });
    expect(await listed('?q=hidden-needle')).toEqual([id]);
    expect(idsOn(await reader.get(`${list}?q=hidden-needle`))).toEqual([]);
    const { html } = await reader.get(list);
    expect(html).not.toContain('data-pick');
    expect(html).not.toContain('value="discard"');
  });
});

/** Sends the form of the list. */
const send = (act: string, ids: readonly string[], sure = true): Promise<Page> =>
  visitor.post(list, {
    body: new URLSearchParams([
      ['csrf', visitor.csrf],
      ['act', act],
      ...(sure ? [['sure', 'yes'] as [string, string]] : []),
      ...ids.map((id): [string, string] => ['event', id]),
    ]).toString(),
  });

describe('selected events', () => {
  it('are replayed, requeued and discarded after a question', async () => {
    const [done, dead, pending] = [await event({}), await event({}), await event({})];
    await finish(done);
    await giveUp(gateway, dead, 'No.');
    await visitor.get(list);
    const question = await send('discard', [dead, pending], false);
    expect(question.html).toContain('Discard 2 events?');
    expect(question.html).toContain(`name="event" value="${dead}"`);
    expect([await stateOf(dead), await stateOf(pending)]).toEqual(['dead', 'pending']);
    await send('discard', [dead, pending]);
    expect([await stateOf(dead), await stateOf(pending)]).toEqual(['done', 'done']);
    expect((await opsOf(pending))[0]).toBe('event.discarded web');
    await send('replay', [done, dead]);
    expect([await stateOf(done), await stateOf(dead)]).toEqual(['pending', 'pending']);
    expect((await opsOf(done))[0]).toBe('inbox_replay web');
    await giveUp(gateway, done, 'No.');
    await send('requeue', [done]);
    expect(await stateOf(done)).toBe('pending');
  });

  it('stay as they are where that is not possible, and the page says why', async () => {
    const [held, free] = [await event({}), await event({})];
    await claim(gateway, held);
    await visitor.get(list);
    const answer = await send('discard', [held, free, 'evt_00000000000000000000000000']);
    const { html } = await visitor.get(answer.location ?? '');
    expect(html).toContain('1 event discarded.');
    expect(html).toContain(`1 event left alone: It is claimed.`);
    expect(html).toContain('1 event left alone: ');
    expect(html).toContain(`/events/${held}"`);
    expect([await stateOf(held), await stateOf(free)]).toEqual(['claimed', 'done']);
  });

  it('are none, too many, or not ours: nothing is done', async () => {
    await visitor.get(list);
    expect((await send('discard', [])).status).toBe(422);
    const many = Array.from({ length: 101 }, (_, n) => `evt_${String(n).padStart(26, '0')}`);
    expect((await send('discard', many)).html).toContain('Select at most 100 events.');
    expect((await send('explode', many.slice(0, 1))).status).toBe(400);
    expect((await send('discard', ['evt_1'])).status).toBe(400);
  });

  it('are not moved by a key that may only read', async () => {
    const id = await event({});
    const reader = await WebVisitor.withKey(gateway, await gateway.key('inbox:read'));
    await reader.get(list);
    for (const act of ['discard', 'replay', 'requeue']) {
      const fields = { act, event: id, sure: 'yes' };
      expect([act, (await reader.post(list, { fields })).status]).toEqual([act, 403]);
    }
    expect(await stateOf(id)).toBe('pending');
  });
});
