import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeClock, TestGateway } from '../../../helpers/gateway.ts';
import { FakeBrowser } from '../../channels/push/fake-browser.ts';
import { FakePushService } from '../../channels/push/fake-push-service.ts';
import { LOOPBACK, until } from '../../callbacks/callback-receiver.ts';
import { placeOf } from './places.ts';
import { ask, pathOf, WebVisitor, type Page } from './web-visitor.ts';

const OWNER = 'ana@example.com';

const clock = new FakeClock();
let gateway: TestGateway;
let service: FakePushService;
let owner: WebVisitor;
let page: string;

beforeAll(async () => {
  service = await FakePushService.start();
  gateway = await TestGateway.start({ clock, callbackAllow: LOOPBACK });
  await gateway.gateway.setOwner(gateway.projectId, OWNER);
  owner = await WebVisitor.asOwner(gateway, OWNER);
  page = await placeOf(gateway, 'browsers');
});
afterAll(async () => {
  await gateway.stop();
  await service.stop();
});

/** Adds a browser as the script of the page does. */
async function add(subscription: string, name = 'Firefox on Linux'): Promise<Page> {
  await owner.get(page);
  await owner.post(page, { fields: { act: 'prepare' } });
  await owner.get(`${page}?add=1`);
  return owner.post(page, { fields: { act: 'add', name, subscription } });
}

async function remove(): Promise<void> {
  const { html } = await owner.get(page);
  for (const [, id = ''] of html.matchAll(/name="id" value="(brw_\w+)"/g)) {
    await owner.post(page, { fields: { act: 'remove', id } });
  }
}

describe('a browser', () => {
  it('is added with the key of the project, and gets what its person is asked', async () => {
    expect((await owner.get(page)).html).toContain('No browsers yet.');
    expect((await owner.get(`${page}?add=1`)).html).toContain('No browsers yet.');
    const browser = new FakeBrowser(service.url('/ana'));
    expect((await add(browser.json)).location).toBe(page);
    const form = (await owner.get(`${page}?add=1`)).html;
    const key = /data-push="([\w-]{87})"/.exec(form)?.[1] ?? '';
    expect(form).toMatch(/data-worker="\/ui\/push\.js" data-scope="\/ui\/p\/[\w-]+\/"/);
    expect((await owner.get(page)).html).toContain('Firefox on Linux');

    const id = await ask(gateway, {
      summary: 'Refund <b>Jane</b>\u202e',
      risk: 'high',
      details: 'Card 4111 1111 1111 1111',
    });
    const { path, headers, body } = await service.nth(0);
    expect(path).toBe('/ana');
    expect(headers).toMatchObject({
      'content-encoding': 'aes128gcm',
      ttl: '86400',
      urgency: 'high',
    });
    expect(headers['authorization']).toMatch(new RegExp(`^vapid t=[\\w.-]+, k=${key}$`));
    const message = JSON.parse(browser.open(body)) as Record<string, string>;
    expect(message).toEqual({
      title: 'Test: approve?',
      body: 'Refund <b>Jane</b>\uFFFD High risk.',
      path: expect.stringMatching(/^\/a\/\w+$/) as string,
      tag: id,
    });
    const decision = await fetch(gateway.url + message['path']);
    expect([decision.status, await decision.text()]).toEqual([
      200,
      expect.stringContaining('Approve this action?'),
    ]);
    await until(
      () => owner.get(page),
      ({ html }) => !html.includes('never'),
    );
  });

  it('hears nothing of what changes an earlier message', async () => {
    const before = service.pushed.length;
    const path = await pathOf(gateway, await ask(gateway, { action: 'b', summary: 'Second' }));
    await service.nth(before);
    await owner.get(path);
    await owner.post(path, { fields: { verb: 'deny' } });
    await ask(gateway, { action: 'c', summary: 'Third' });
    await service.nth(before + 1);
    expect(service.pushed).toHaveLength(before + 2);
  });

  it('is unreachable once its push service says so, and gets no more', async () => {
    service.status = 410;
    const before = service.pushed.length;
    await ask(gateway, { action: 'd', summary: 'Gone' });
    await service.nth(before);
    await until(
      () => owner.get(page),
      ({ html }) => html.includes('Unreachable'),
    );
    service.status = 201;
    const other = new FakeBrowser(service.url('/other'));
    await add(other.json, 'Phone');
    await ask(gateway, { action: 'e', summary: 'For the phone' });
    expect((await service.nth(before + 1)).path).toBe('/other');
    expect(service.pushed).toHaveLength(before + 2);
  });

  it('stays once where it is added again, and stops when it is removed', async () => {
    await remove();
    const browser = new FakeBrowser(service.url('/again'));
    await add(browser.json, 'One');
    await add(browser.json, 'Two');
    const { html } = await owner.get(page);
    expect([html.includes('One'), html.includes('Two')]).toEqual([false, true]);
    await remove();
    const before = service.pushed.length;
    const kept = new FakeBrowser(service.url('/kept'));
    await ask(gateway, { action: 'f', summary: 'Nobody' });
    await add(kept.json);
    await ask(gateway, { action: 'g', summary: 'Somebody' });
    expect((await service.nth(before)).path).toBe('/kept');
  });

  it('is refused with an address inside the network, or without keys', async () => {
    const refused = [
      new FakeBrowser('http://10.0.0.1/push').json,
      new FakeBrowser('https://router.internal/push').json,
      new FakeBrowser('ftp://push.example.com/').json,
    ];
    for (const subscription of refused) {
      const { status, html } = await add(subscription);
      expect([status, html]).toEqual([400, expect.stringContaining('doesn’t call')]);
    }
    for (const subscription of ['', '{}', '{"endpoint":"https://push.example.com/"}']) {
      const { status, html } = await add(subscription);
      expect([status, html]).toEqual([400, expect.stringContaining('sent no subscription')]);
    }
  });

  it('is refused with a key that is off the curve, by the name of the field', async () => {
    const { json } = new FakeBrowser('https://push.example.com/1');
    const { endpoint, keys } = JSON.parse(json) as { endpoint: string; keys: { auth: string } };
    const p256dh = Buffer.concat([Buffer.from([4]), Buffer.alloc(64, 1)]).toString('base64url');
    const { status, html } = await add(JSON.stringify({ endpoint, keys: { ...keys, p256dh } }));
    expect([status, html]).toEqual([400, expect.stringContaining('keys.p256dh is not a point')]);
  });

  it('is nobody else’s', async () => {
    const visitor = await WebVisitor.withKey(gateway);
    const seen = await visitor.get(page);
    expect(seen.html).toContain('Only people whom agents ask get notices.');
    expect(seen.html).not.toContain('Firefox');
    const { subscription: _own, json } = new FakeBrowser(service.url('/thief'));
    const sent = await visitor.post(page, { fields: { act: 'add', subscription: json } });
    expect(sent.status).toBe(403);
    const limited = await WebVisitor.withKey(gateway, await gateway.key('disk'));
    expect((await limited.get(page)).status).toBe(404);
  });

  it('gets a test, and the page says what its push service answered', async () => {
    await remove();
    const browser = new FakeBrowser(service.url('/tested'));
    await add(browser.json, 'Tested <b>one</b>');
    const { html } = await owner.get(page);
    const id = /name="id" value="(brw_\w+)"/.exec(html)?.[1] ?? '';
    expect(html).toContain('You can send 5 tests at once, then one every 2 minutes.');
    const before = service.pushed.length;
    const test = async (): Promise<Page> => {
      await owner.get(page);
      const { location, ...refused } = await owner.post(page, { fields: { act: 'test', id } });
      return location === null ? { ...refused, location } : owner.get(location);
    };
    const took = await test();
    const { body, headers } = await service.nth(before);
    expect(JSON.parse(browser.open(body))).toEqual({
      title: 'Test: a test',
      body: 'Notices work in this browser.',
      path: page,
      tag: 'test',
    });
    expect(headers).toMatchObject({ ttl: '600', urgency: 'high' });
    expect(took.html).toMatch(/Test sent to .*?Tested &lt;b&gt;one&lt;\/b&gt;/);
    expect(took.html).toMatch(/127\.0\.0\.1:\d+<\/span> answered 201: it took the notice/);
    for (const [status, words] of [
      [429, 'it has had too many notices. Try again later.'],
      [503, 'it has trouble of its own. Try again later.'],
      [400, 'it refused the notice.'],
    ] as const) {
      service.status = status;
      const said = await test();
      expect(said.html).toContain('The test didn’t reach');
      expect(said.html).toContain(`answered ${status}: ${words}`);
    }
    service.status = 410;
    expect((await test()).html).toContain('answered 410: it no longer knows this browser.');
    service.status = 201;
    const gone = await owner.get(page);
    expect(gone.html).toContain('Unreachable');
    expect(gone.html).not.toContain('Send a test');
    const sent = service.pushed.length;
    expect((await test()).status).toBe(404);

    await add(browser.json, 'Again');
    const again = /name="id" value="(brw_\w+)"/.exec((await owner.get(page)).html)?.[1] ?? '';
    const limited = await owner.post(page, { fields: { act: 'test', id: again } });
    expect([limited.status, limited.html]).toEqual([
      429,
      expect.stringContaining('You can send the next one in 2 minutes.'),
    ]);
    expect(service.pushed).toHaveLength(sent);
    clock.advance(120_000);
    const later = await owner.post(page, { fields: { act: 'test', id: again } });
    expect(later.status).toBe(303);
    expect(service.pushed).toHaveLength(sent + 1);
  });

  it('can’t be tested by anybody else, and silence is said', async () => {
    clock.advance(600_000);
    await remove();
    const closed = await FakePushService.start();
    const silent = new FakeBrowser(closed.url('/silent'));
    await closed.stop();
    await add(silent.json, 'Silent');
    const id = /name="id" value="(brw_\w+)"/.exec((await owner.get(page)).html)?.[1] ?? '';
    const { location } = await owner.post(page, { fields: { act: 'test', id } });
    const { html } = await owner.get(location ?? '');
    expect(html).toContain('gave no answer. The connection was refused.');
    const visitor = await WebVisitor.withKey(gateway);
    await visitor.get(page);
    const sent = await visitor.post(page, { fields: { act: 'test', id } });
    expect(sent.status).toBe(403);
  });

  it('goes with the owner’s address, and is sealed in the meantime', async () => {
    const before = service.pushed.length;
    await gateway.gateway.setOwner(gateway.projectId, 'bo@example.com');
    await ask(gateway, { action: 'h', summary: 'For Bo' });
    const bo = await WebVisitor.asOwner(gateway, 'bo@example.com');
    expect((await bo.get(page)).html).toContain('No browsers yet.');
    expect(service.pushed).toHaveLength(before);
  });
});

describe('the app', () => {
  it('has a manifest, an icon and a worker, for anybody', async () => {
    const manifest = await fetch(`${gateway.url}/ui/manifest.webmanifest`);
    expect(manifest.headers.get('content-type')).toBe('application/manifest+json');
    expect(await manifest.json()).toMatchObject({ start_url: '/ui', display: 'standalone' });
    const icon = await fetch(`${gateway.url}/ui/icon.png`);
    expect(
      Buffer.from(await icon.arrayBuffer())
        .subarray(1, 4)
        .toString(),
    ).toBe('PNG');
    const worker = await fetch(`${gateway.url}/ui/push.js`);
    expect(worker.headers.get('content-type')).toContain('text/javascript');
    expect(worker.headers.get('cache-control')).toBe('no-cache');
  });
});
