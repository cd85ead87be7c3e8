import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestGateway } from '../../../helpers/gateway.ts';
import { Routes } from '../../../shared/operations/route/routes.ts';
import { LOOPBACK, Receiver } from '../../callbacks/callback-receiver.ts';
import { hasChromium, LOOKS, openBrowser } from '../pages/browser.ts';
import { giveUp, claim, placeOf } from './places.ts';
import { foundOn, openAs } from './visitor-tab.ts';
import { ask, WebVisitor } from './web-visitor.ts';

const OWNER = 'ana@example.com';
/** What a page may load in all. */
const MAX_BYTES = 300_000;

describe.skipIf(!hasChromium())('the overview in a browser', () => {
  let browser: Browser;
  let gateway: TestGateway;
  let receiver: Receiver;
  let owner: WebVisitor;
  let page: string;

  beforeAll(async () => {
    browser = await openBrowser();
    gateway = await TestGateway.start({ callbackAllow: LOOPBACK });
    await gateway.gateway.setOwner(gateway.projectId, OWNER);
    owner = await WebVisitor.asOwner(gateway, OWNER);
    page = await placeOf(gateway, 'overview');
    for (let at = 0; at < 6; at += 1) {
      const url = await gateway.addSource({ name: `source-${at}` });
      const { body } = await gateway.deliver(url, `{"at":${at}}`);
      const id = String(body['event_id']);
      if (at === 0) await giveUp(gateway, id, 'x');
      if (at !== 1) continue;
      await claim(gateway, id);
      await gateway.call('POST', '/v1/inbox/ack', { body: { event_id: id } });
    }
    receiver = await Receiver.start();
    receiver.answer(204);
    const routes = new Routes(gateway);
    const route = await routes.add(receiver.url('/in'), { match_source: 'pushed' });
    await routes.event({ source: 'pushed' });
    await routes.attempted(route.id, 1);
    await ask(gateway, { summary: `<b>${'W'.repeat(200)}</b>`, risk: 'high', details: 'x' });
  });
  afterAll(async () => {
    await browser.close();
    await gateway.stop();
    await receiver.stop();
  });

  const looks = LOOKS.filter(({ scripts }) => scripts);

  it.each(looks.map((look) => [`${look.size}, ${look.scheme}`, look] as const))(
    'nothing is in anybody’s way: %s',
    async (_name, look) => {
      const tab = await openAs(browser, gateway, owner, look);
      const paths = ['hour', 'month'].map((span) => `${page}?span=${span}`);
      expect(await foundOn(tab, gateway, paths, look)).toEqual([]);
      await tab.close();
    },
  );

  it('is light, and brings in what happens', async () => {
    const tab = await openAs(browser, gateway, owner, { size: 'desktop' });
    const loaded: Promise<number>[] = [];
    const { page: shown } = tab;
    shown.on('response', (response) => {
      if (response.headers()['content-type'] === 'text/event-stream') return;
      loaded.push(response.body().then((body) => body.length));
    });
    await shown.goto(`${gateway.url}${page}?span=month`);
    const bytes = (await Promise.all(loaded)).reduce((sum, one) => sum + one, 0);
    expect(bytes).toBeGreaterThan(10_000);
    expect(bytes).toBeLessThan(MAX_BYTES);
    await ask(gateway, { action: 'new', summary: 'Just now' });
    await shown.getByRole('link', { name: /Just now/ }).waitFor();
    await tab.close();
  });
});
