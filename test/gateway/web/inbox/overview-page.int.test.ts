import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock, TestGateway } from '../../../helpers/gateway.ts';
import { TestDisk } from '../../../shared/operations/disk.ts';
import { Routes } from '../../../shared/operations/route/routes.ts';
import { LOOPBACK, Receiver, until } from '../../callbacks/callback-receiver.ts';
import { claim, giveUp, placeOf } from './places.ts';
import { ask, pathOf, WebVisitor } from './web-visitor.ts';

const OWNER = 'ana@example.com';
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const clock = new FakeClock(Date.UTC(2026, 0, 2, 12, 0, 30));
let gateway: TestGateway;
let owner: WebVisitor;
let page: string;
let receiver: Receiver;

beforeAll(async () => {
  gateway = await TestGateway.start({ clock, callbackAllow: LOOPBACK });
  await gateway.gateway.setOwner(gateway.projectId, OWNER);
  owner = await WebVisitor.asOwner(gateway, OWNER);
  page = await placeOf(gateway, 'overview');
  receiver = await Receiver.start();
});
afterAll(async () => {
  await gateway.stop();
  await receiver.stop();
});

/** Lets time pass in which no page is open, and signs in again. */
async function later(ms: number): Promise<void> {
  clock.advance(ms);
  owner = await WebVisitor.asOwner(gateway, OWNER);
}

/** The text of a section of the page, without tags. */
async function section(id: string, query = ''): Promise<string> {
  const { html } = await owner.get(page + query);
  const start = html.indexOf(`aria-labelledby="${id}"`);
  if (start < 0) throw new Error(`There is no section ${id}.`);
  const end = html.indexOf('</section>', start);
  return html
    .slice(html.indexOf('>', start) + 1, end)
    .replaceAll(/<(?:svg|caption)[^]*?<\/(?:svg|caption)>/g, '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

/** The rows of a table of numbers that aren't all zero, without their times. */
async function rows(id: string, query = ''): Promise<string[][]> {
  const { html } = await owner.get(page + query);
  const start = html.indexOf(`aria-labelledby="${id}"`);
  const body = /<tbody>([^]*?)<\/tbody>/.exec(html.slice(start))?.[1] ?? '';
  return [...body.matchAll(/<tr>([^]*?)<\/tr>/g)]
    .map(([, row = '']) =>
      [...row.matchAll(/<td[^>]*>([^]*?)<\/td>/g)].slice(1).map(([, text = '']) => text),
    )
    .filter((cells) => cells.some((text) => text !== '0' && text !== '–'));
}

describe('a new project', () => {
  it('is told that nothing needs anybody, and shows no empty pictures', async () => {
    expect((await owner.get('/ui')).location).toBe(page);
    expect(await section('attention')).toContain('Nothing needs you.');
    expect(await section('received')).toContain('No events in this time.');
    expect(await section('oldest')).toContain('nothing pending');
  });
});

describe('what happened', () => {
  let shop: string;
  let delivered = 0;

  const deliver = async (): Promise<string> => {
    delivered += 1;
    const { body } = await gateway.deliver(shop, JSON.stringify({ delivered }));
    return String(body['event_id']);
  };

  beforeAll(async () => {
    shop = await gateway.addSource({ name: 'shop' });
    const first = await deliver();
    clock.advance(4000);
    await claim(gateway, first);
    clock.advance(16_000);
    await gateway.call('POST', '/v1/inbox/ack', { body: { event_id: first } });
    const second = await deliver();
    await claim(gateway, second);
    await gateway.call('POST', '/v1/inbox/nack', { body: { event_id: second, reason: 'x' } });
    await giveUp(gateway, await deliver(), 'no such customer');
    clock.advance(5 * MINUTE_MS);
    await deliver();
    clock.advance(3 * MINUTE_MS);
  });

  it('is counted by source, and by how it ended', async () => {
    expect(await section('received', '?span=hour')).toMatch(/shop 4/);
    expect(await rows('received', '?span=hour')).toEqual([['3'], ['1']]);
    expect(await section('ended', '?span=day')).toMatch(/Done 1 Failed attempts 2 Dead 1/);
  });

  it('says how long events waited and took', async () => {
    const text = await section('times');
    expect(text).toMatch(/Claimed, half within (3|4)\.\d s/);
    expect(text).toMatch(/Done, half within (15|16|17) s/);
  });

  it('says how long the oldest pending event has waited', async () => {
    expect(await section('oldest', '?span=hour')).toContain('now 3 min');
  });

  it('is the same once maintenance has counted it, and after that', async () => {
    const before = [await section('received'), await section('ended'), await section('times')];
    const disk = await TestDisk.of(gateway, () => clock.now());
    const count = () => disk.project.writes.run('countActivity', { now: clock.now(), limit: 2 });
    let portions = 1;
    while (!(await count())) portions += 1;
    expect(portions).toBeGreaterThan(3);
    expect([await section('received'), await section('ended'), await section('times')]).toEqual(
      before,
    );
    await deliver();
    expect(await section('received')).toMatch(/shop 5/);
  });

  it('shows how long a person took', async () => {
    const path = await pathOf(gateway, await ask(gateway));
    clock.advance(2 * MINUTE_MS);
    await owner.get(path);
    await owner.post(path, { fields: { verb: 'approve' } });
    expect(await section('decisions')).toMatch(/Decided, half within (1|2) min/);
  });

  it('falls out of a shorter span, and of every one in the end', async () => {
    await later(2 * HOUR_MS);
    expect(await section('received', '?span=hour')).toContain('No events in this time.');
    expect(await section('received', '?span=day')).toMatch(/shop 5/);
    expect(await section('received', '?span=month')).toMatch(/shop 5/);
  });
});

describe('what needs attention', () => {
  beforeEach(() => later(HOUR_MS));

  it('comes first: requests, dead events, disabled routes, quotas', async () => {
    await ask(gateway, { summary: 'Pay <b>Bob</b>', risk: 'high', details: 'All.' });
    for (let at = 0; at < 3; at += 1) await ask(gateway, { action: `a${at}`, summary: 'More' });
    const disk = await TestDisk.of(gateway, () => clock.now());
    await disk.write((store) => store.disk.add('file_bytes', 900 * 2 ** 20));
    const { html } = await owner.get(page);
    expect(html.indexOf('id="attention"')).toBeLessThan(html.indexOf('id="activity"'));
    expect(html).toContain('Pay &lt;b&gt;Bob');
    const text = await section('attention');
    expect(text).toContain('high risk');
    expect(text).toContain('1 more request waits for a decision');
    expect(text).toContain('1 event failed for good Dead');
    expect(text).toMatch(/Disk 8\d % used/);
    expect(text).not.toContain('bot');
  });

  it('is a route that its receiver ended; its pushes are counted', async () => {
    const routes = new Routes(gateway);
    receiver.answer(204);
    const good = await routes.add(receiver.url('/good'), { match_source: 'good' });
    await routes.event({ source: 'good' });
    await routes.attempted(good.id, 1);
    receiver.answer(410);
    await routes.add(receiver.url('/gone'), { match_source: 'gone' });
    await routes.event({ source: 'gone' });
    await until(
      () => routes.list(),
      (all) => all.some(({ enabled }) => !enabled),
    );
    clock.advance(10_000);
    expect(await section('attention')).toMatch(/Route to .* Disabled The receiver answered 410/);
    expect(await section('pushes')).toContain(`${good.id} 1`);
  });

  it('is what the visitor’s scopes allow', async () => {
    const key = await gateway.key('disk');
    const visitor = await WebVisitor.withKey(gateway, key);
    const { html } = await visitor.get(page);
    expect(html).toContain('Disk used');
    expect(html).not.toContain('Events received');
    expect(html).not.toContain('Pay ');
    expect(html).not.toContain('failed for good');
  });
});
