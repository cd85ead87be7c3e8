import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock, TestGateway } from '../../../helpers/gateway.ts';
import { hasChromium, LOOKS, openBrowser, Tab, type Look } from '../../web/pages/browser.ts';
import { Person } from './person.ts';

const FIELD = 'Type the code that your terminal shows';
const HOUR_MS = 3_600_000;
const CLIENT = { name: 'svc', version: '0.1.0', host: 'anas-laptop.local' };
const HOSTILE = {
  name: `</dd><h1>Safe</h1>\u202e${'W'.repeat(60)}`,
  version: '\u200b1',
  host: 'e\u0335\u0335\u0335\u0335\u0335 \u0441yrillic <a href="https://evil.example">here</a>',
};

// A text, as the types of a browser are not those of a server.
const CODE_SIZE = `parseFloat(getComputedStyle(document.querySelector('.usercode')).fontSize)`;

const clock = new FakeClock();
let gateway: TestGateway;
let browser: Browser;
let ana: Person;

describe.skipIf(!hasChromium())('the page of a sign-in, in a browser', () => {
  beforeAll(async () => {
    gateway = await TestGateway.start({ clock, signIn: true });
    browser = await openBrowser();
    ana = new Person(gateway, 'ana@example.com');
  });

  afterAll(async () => {
    await browser.close();
    await gateway.stop();
  });

  // No more than so many may begin an hour.
  beforeEach(() => clock.advance(HOUR_MS));

  const named = LOOKS.map(
    (look) =>
      [`${look.size}, ${look.scheme}, scripts ${look.scripts ? 'on' : 'off'}`, look] as const,
  );

  it.each(named)('is read and confirmed: %s', async (_name, look: Look) => {
    const tab = await Tab.open(browser, look);
    const { page } = tab;
    const heading = () => page.getByRole('heading', { level: 1 }).textContent();
    const code = async () => {
      clock.advance(1000);
      return (await ana.poll(first.login_id)).code;
    };
    const first = await ana.start(CLIENT);
    await page.goto(first.link);
    expect(await heading()).toBe('Are you signing in?');
    expect(await page.content()).not.toContain(first.user_code);
    await page.reload();
    expect(await code()).toBe('LOGIN_NOT_VERIFIED');
    await page.getByLabel(FIELD).fill('WRONG-CODE-10');
    await page.getByRole('button', { name: 'Confirm' }).click();
    expect(await page.getByRole('alert').textContent()).toContain('try once more');
    expect(await code()).toBe('LOGIN_NOT_VERIFIED');
    await page.getByLabel(FIELD).fill(first.user_code.toLowerCase().replaceAll('-', ' '));
    await page.getByRole('button', { name: 'Confirm' }).click();
    expect(await heading()).toBe('Signed in');
    expect(await code()).toBe(null);
    await page.goBack();
    await page.reload();
    expect(await heading()).toBe('Signed in');

    const second = await ana.start(CLIENT);
    await page.goto(second.link);
    await page.getByRole('button', { name: 'This was not me' }).click();
    expect(await heading()).toBe('No one was signed in');
    expect((await ana.poll(second.login_id)).code).toBe('LOGIN_EXPIRED');
    expect(tab.complaints).toEqual([]);
    expect(tab.asked.every((url) => url.startsWith(gateway.url))).toBe(true);
    await tab.close();
  });

  it.each(named.filter(([, look]) => look.scripts))(
    'nothing is in anybody’s way: %s',
    async (_name, look: Look) => {
      const tab = await Tab.open(browser, look);
      const { page } = tab;
      const fits = async (title: string) => {
        await expect.poll(() => page.title()).toBe(title);
        expect([title, await tab.violations()]).toEqual([title, []]);
        expect([title, await tab.smallTargets()]).toEqual([title, []]);
        expect([title, await tab.isTooWide()]).toEqual([title, false]);
      };
      const { link, login_id, user_code } = await ana.start(CLIENT);
      await page.goto(link);
      await fits('Confirm sign-in');
      await page.getByLabel(FIELD).fill(user_code);
      await page.getByRole('button', { name: 'Confirm' }).click();
      await fits('Signed in');
      expect((await ana.create(login_id)).status).toBe(201);
      await page.reload();
      await fits('Signed in');
      const hostile = await ana.start(HOSTILE);
      await page.goto(hostile.link);
      await fits('Confirm sign-in');
      expect(await page.getByRole('heading', { level: 1 }).count()).toBe(1);
      expect(await page.locator('body :is(a, script, img, iframe)').count()).toBe(0);
      await page.getByRole('button', { name: 'This was not me' }).click();
      await fits('No one was signed in');
      const late = await ana.start();
      clock.advance(HOUR_MS);
      await page.goto(late.link);
      await fits('This sign-in has expired');
      expect(tab.complaints).toEqual([]);
      await page.goto(`${gateway.url}/s/unknown`);
      await fits('This link doesn’t work');
      await tab.close();
    },
  );

  it('shows its field and buttons on a telephone without scrolling, in letters that no phone zooms', async () => {
    const tab = await Tab.open(browser);
    const { link } = await ana.start(CLIENT);
    await tab.page.goto(link);
    for (const name of ['Confirm', 'This was not me']) {
      const box = await tab.page.getByRole('button', { name }).boundingBox();
      expect((box?.y ?? Infinity) + (box?.height ?? 0)).toBeLessThan(740);
    }
    const size = await tab.page.evaluate<number>(CODE_SIZE);
    expect(size).toBeGreaterThanOrEqual(16);
    await tab.close();
  });
});
