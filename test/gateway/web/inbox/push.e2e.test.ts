import type { Browser, CDPSession } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestGateway } from '../../../helpers/gateway.ts';
import { FakeBrowser } from '../../channels/push/fake-browser.ts';
import { FakePushService } from '../../channels/push/fake-push-service.ts';
import { LOOPBACK } from '../../callbacks/callback-receiver.ts';
import { hasChromium, LOOKS, openBrowser, type Tab } from '../pages/browser.ts';
import { placeOf } from './places.ts';
import { foundOn, openAs } from './visitor-tab.ts';
import { ask, WebVisitor } from './web-visitor.ts';

const OWNER = 'ana@example.com';

describe.skipIf(!hasChromium())('notices of a browser', () => {
  let browser: Browser;
  let gateway: TestGateway;
  let service: FakePushService;
  let owner: WebVisitor;
  let page: string;

  beforeAll(async () => {
    browser = await openBrowser();
    service = await FakePushService.start();
    gateway = await TestGateway.start({ callbackAllow: LOOPBACK });
    await gateway.gateway.setOwner(gateway.projectId, OWNER);
    owner = await WebVisitor.asOwner(gateway, OWNER);
    page = await placeOf(gateway, 'browsers');
  });
  afterAll(async () => {
    await browser.close();
    await gateway.stop();
    await service.stop();
  });

  /** The vendor's push service is out of reach, so the browser subscribes with ours. */
  async function subscribingWith(fake: FakeBrowser): Promise<Tab> {
    const tab = await openAs(browser, gateway, owner, { size: 'desktop' });
    const context = tab.page.context();
    await context.grantPermissions(['notifications'], { origin: gateway.url });
    // Chromium without a window always refuses when it's asked.
    await tab.page.addInitScript(
      `Notification.requestPermission = async () => 'granted';
       PushManager.prototype.subscribe = async ({ applicationServerKey }) => {
         if (applicationServerKey.length !== 65) throw new Error('The key is none.');
         return { toJSON: () => (${fake.json}) };
       };`,
    );
    return tab;
  }

  /** Gives the browser a push, as its push service would. */
  async function deliver(cdp: CDPSession, data: string): Promise<void> {
    const registrations: { registrationId: string }[] = [];
    cdp.on('ServiceWorker.workerRegistrationUpdated', (update) =>
      registrations.push(...update.registrations),
    );
    await cdp.send('ServiceWorker.enable');
    await expect.poll(() => registrations.length).toBeGreaterThan(0);
    const { registrationId = '' } = registrations[0] ?? {};
    await cdp.send('ServiceWorker.deliverPushMessage', {
      origin: gateway.url,
      registrationId,
      data,
    });
  }

  it('are turned on, shown, and lead to the page that decides', async () => {
    const fake = new FakeBrowser(service.url('/chromium'));
    const tab = await subscribingWith(fake);
    const { page: shown } = tab;
    await shown.goto(gateway.url + page);
    await shown.getByRole('button', { name: 'Add this browser' }).click();
    const name = shown.getByLabel('Name of this browser');
    await expect.poll(() => name.inputValue()).toBe('Chrome on Linux');
    await shown.getByRole('button', { name: 'Turn on notices' }).click();
    await shown.getByRole('cell', { name: 'Chrome on Linux', exact: true }).waitFor();

    await ask(gateway, { summary: 'Refund Jane' });
    const message = fake.open((await service.nth(0)).body);
    await deliver(await tab.page.context().newCDPSession(shown), message);
    const notices = `navigator.serviceWorker.getRegistration('${page.replace(/browsers$/, '')}')
      .then((registration) => registration.getNotifications())
      .then((all) => all.map(({ title, body, data }) => ({ title, body, path: data.path })))`;
    const { title, body, path } = JSON.parse(message) as Record<string, string>;
    await expect.poll(() => shown.evaluate(notices)).toEqual([{ title, body, path }]);
    expect([title, body]).toEqual(['Test: approve?', 'Refund Jane']);

    // A test can't click on a notice of the system, so the worker is told of the click.
    const [worker] = tab.page.context().serviceWorkers();
    const opened = await worker?.evaluate(`(async () => {
      const urls = [];
      self.clients.openWindow = async (url) => urls.push(url);
      const all = await self.registration.getNotifications();
      for (const notification of all) {
        self.dispatchEvent(new NotificationEvent('notificationclick', { notification }));
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
      return urls;
    })()`);
    expect(opened).toEqual([gateway.url + String(path)]);
    await shown.goto(gateway.url + String(path));
    await shown.getByRole('button', { name: 'Approve' }).click();
    await shown.getByRole('heading', { name: 'Approved' }).waitFor();

    await shown.goto(gateway.url + page);
    await shown.getByRole('button', { name: 'Send a test to Chrome on Linux' }).click();
    await shown.getByRole('alert').getByText('Test sent to Chrome on Linux.').waitFor();
    expect(JSON.parse(fake.open((await service.nth(1)).body))).toMatchObject({
      title: 'Test: a test',
      path: page,
    });
    expect([await tab.violations(), await tab.isTooWide()]).toEqual([[], false]);
    expect(tab.complaints).toEqual([]);
    expect(tab.asked.every((url) => url.startsWith(gateway.url))).toBe(true);
    await tab.close();
  });

  const looks = LOOKS.filter(({ scripts }) => scripts);

  it.each(looks.map((look) => [`${look.size}, ${look.scheme}`, look] as const))(
    'have a page with nothing in anybody’s way: %s',
    async (_name, look) => {
      const tab = await openAs(browser, gateway, owner, look);
      expect(await foundOn(tab, gateway, [page, `${page}?add=1`], look)).toEqual([]);
      await tab.close();
    },
  );
});
