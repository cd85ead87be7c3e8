import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeClock, TestGateway } from '../../../helpers/gateway.ts';
import { TestPeople } from '../../approvals/people.ts';
import { escaped, HOSTILE } from './hostile-words.ts';
import { claim, placeOf } from './places.ts';
import { ask, pathOf, WebVisitor } from './web-visitor.ts';

const OWNER = 'ana@example.com';
const DAY_MS = 86_400_000;

const clock = new FakeClock();
let gateway: TestGateway;
let people: TestPeople;
let owner: WebVisitor;
let list: string;

beforeAll(async () => {
  gateway = await TestGateway.start({ clock });
  await gateway.gateway.setOwner(gateway.projectId, OWNER);
  people = await TestPeople.of(gateway, clock);
  owner = await WebVisitor.asOwner(gateway, OWNER);
  list = await pathOf(gateway);
});
afterAll(() => gateway.stop());

async function askAs(agent: string, body: Record<string, unknown>): Promise<string> {
  const answer = await gateway.call<{ request_id: string }>('POST', '/v1/requests', {
    body: { wait_seconds: 0, ...body },
    headers: { 'x-service-agent': agent },
  });
  return answer.body.request_id;
}

const approved = async (agent: string, body: Record<string, unknown>): Promise<string> => {
  const id = await askAs(agent, body);
  await people.decide(id, { verb: 'approve' });
  return id;
};

/** The requests on a page, in their order. */
const shownIn = (html: string): string[] =>
  [...html.matchAll(/href="[^"]*\/requests\/(req_[^"]+)"/g)].map(([, id]) => id ?? '');

async function parkedEvent(hook: string, body: unknown): Promise<string> {
  const { body: taken } = await gateway.deliver(hook, JSON.stringify(body));
  return String(taken['event_id']);
}

describe('the list of requests', () => {
  it('is filtered by agent, action and risk', async () => {
    const refund = { action: 'payment.refund', summary: 'Refund Jane', risk: 'low' };
    const one = await approved('refund-bot', refund);
    const two = await approved('deploy-bot', { action: 'deploy', summary: 'Go', risk: 'medium' });
    const three = await askAs('refund-bot', { ...refund, summary: 'Refund Bob', risk: 'medium' });
    const all = await owner.get(list);
    expect(all.html).toContain('<option value="deploy-bot">');
    expect(all.html).toContain('<option value="payment.refund">');
    const filtered = async (query: string) => shownIn((await owner.get(`${list}?${query}`)).html);
    expect(await filtered('agent=refund-bot')).toEqual([three, one]);
    expect(await filtered('action=deploy')).toEqual([two]);
    expect(await filtered('agent=refund-bot&risk=low')).toEqual([one]);
    expect(await filtered('agent=refund-bot&action=deploy')).toEqual([]);
    expect(await filtered('risk=medium&status=approved')).toEqual([three, two]);
    expect(await filtered('agent=nobody')).toEqual([]);
    expect((await owner.get(`${list}?agent=x&cursor=AA`)).status).toBe(404);
    await people.decide(three, { verb: 'deny' });
  });

  it('goes on where a filtered page stops', async () => {
    for (let n = 0; n < 32; n += 1) {
      await approved('busy-bot', { action: 'busy', summary: `No. ${n}`, risk: 'low' });
    }
    const first = await owner.get(`${list}?agent=busy-bot`);
    expect(shownIn(first.html)).toHaveLength(30);
    const next = /href="(\?[^"]*cursor=[^"]*)"/.exec(first.html)?.[1]?.replaceAll('&amp;', '&');
    expect(next).toContain('agent=busy-bot');
    expect(shownIn((await owner.get(list + String(next))).html)).toHaveLength(2);
  });
});

describe('an event that waits', () => {
  it('is listed with whom it waits for, and on the page of its request', async () => {
    const hook = await gateway.addSource({ name: 'shop' });
    const event_id = await parkedEvent(hook, { order: 42 });
    const lease = await claim(gateway, event_id);
    const id = await ask(gateway, { summary: 'Ship order 42', event_id, bind: { order: 42 } });
    await gateway.call('POST', '/v1/inbox/nack', {
      body: { event_id, lease_id: lease, until: [id], state: { step: 'packed' } },
    });
    const { html } = await owner.get(list);
    expect(html).toMatch(/Events that wait.*?waits for.*?owner.*?to decide.*?Ship order 42/s);
    const page = await owner.get(await pathOf(gateway, id));
    expect(page.html).toContain('What led to it');
    expect(page.html).toContain(`/events/${event_id}"`);
    expect(page.html).toMatch(/What waits for it.*?webhook\.received/s);
    await people.decide(id, { verb: 'approve' });
    const after = await owner.get(await pathOf(gateway, id));
    expect(after.html).toContain('by no call yet, 1 d left');
    const again = await claim(gateway, event_id);
    const ack = { event_id, lease_id: again, spends: id, bind: { order: 42 } };
    await gateway.call('POST', '/v1/inbox/ack', { body: ack });
    const used = await owner.get(await pathOf(gateway, id));
    expect(used.html).toMatch(/Used<\/dt><dd>just now.*?by finishing.*?its event/s);
    expect(used.html).toContain(`?subject=${id}"`);
  });
});

describe('what came of a request', () => {
  it('is its use by a key, or that nobody used it in time', async () => {
    const used = await approved('bot', { action: 'a', summary: 'A', risk: 'low' });
    const unused = await approved('bot', { action: 'a', summary: 'B', risk: 'low' });
    await gateway.call('POST', `/v1/requests/${used}/use`, { body: {} });
    expect((await owner.get(await pathOf(gateway, used))).html).toMatch(/with the key.*?admin/s);
    clock.advance(2 * DAY_MS);
    owner = await WebVisitor.asOwner(gateway, OWNER);
    const { html } = await owner.get(await pathOf(gateway, unused));
    expect(html).toContain('by no call, and it’s too late now');
  });

  it('is the link to a file, until it ends', async () => {
    await people.setPolicy();
    await gateway.call('PUT', '/v1/files/may.txt', {
      body: 'May',
      headers: { 'content-type': 'text/plain' },
    });
    const wanted = { path: 'may.txt', expires_in: 3600, wait_seconds: 0 };
    const asked = await gateway.call<{ request_id: string }>('POST', '/v1/file-urls', {
      body: wanted,
    });
    const id = asked.body.request_id;
    await people.decide(id, { verb: 'approve' });
    await gateway.call('POST', '/v1/file-urls', { body: { ...wanted, approval: id } });
    expect((await owner.get(await pathOf(gateway, id))).html).toMatch(
      /The link<\/dt><dd>works until/,
    );
  });

  it('is the state that its agent saved', async () => {
    await gateway.call('PUT', '/v1/state/deploy-42', { body: { state: { step: 1 } } });
    const id = await ask(gateway, { state_ref: 'deploy-42' });
    const other = await ask(gateway, { state_ref: 'no such task' });
    const disk = await placeOf(gateway, 'disk');
    const { html } = await owner.get(await pathOf(gateway, id));
    expect(html).toContain(`href="${disk}/states?task=deploy-42"`);
    expect((await owner.get(await pathOf(gateway, other))).html).toContain('no such task');
  });
});

describe('what agents wrote', () => {
  it('is text on every page', async () => {
    const words = HOSTILE.replace('\u202e', '');
    const id = await approved('bot', { action: words, summary: words, risk: 'low' });
    const pages = [list, `${list}?action=${encodeURIComponent(words)}`, await pathOf(gateway, id)];
    for (const page of [...pages, `${await placeOf(gateway, 'policy')}/try`]) {
      const { status, html } = await owner.get(page);
      expect([page, status]).toEqual([page, 200]);
      expect(html).not.toContain('<script>document');
      expect(html).toContain(escaped(words.slice(0, words.indexOf(' '))));
    }
  });
});
