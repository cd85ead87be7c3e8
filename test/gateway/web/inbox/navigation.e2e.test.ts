import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestGateway } from '../../../helpers/gateway.ts';
import { hasChromium, openBrowser, type Tab } from '../pages/browser.ts';
import { placeOf } from './places.ts';
import { openAs } from './visitor-tab.ts';
import { ask, WebVisitor } from './web-visitor.ts';

const PHONE = { width: 390, height: 844 };
/** Settings stand beside their list from this width on. */
const DESKTOP = { width: 1280, height: 800 };

let gateway: TestGateway;
let browser: Browser;
let tab: Tab;

/** Presses a key until what it leads to starts with these words; the number of times it took. */
async function pressUntil(key: string, words: string): Promise<number> {
  for (let times = 1; times <= 30; times += 1) {
    await tab.page.keyboard.press(key);
    if ((await tab.focused()).words.trim().startsWith(words)) return times;
  }
  throw new Error(`${key} never leads to ${words}`);
}

describe.skipIf(!hasChromium())('the navigation in a browser', () => {
  beforeAll(async () => {
    gateway = await TestGateway.start();
    // The widest count there is.
    for (let n = 0; n < 20; n += 1) await ask(gateway, { action: 'a', summary: `Number ${n}` });
    browser = await openBrowser();
    tab = await openAs(browser, gateway, await WebVisitor.withKey(gateway));
  });
  afterAll(async () => {
    await browser.close();
    await gateway.stop();
  });

  it('fits on a phone, and leads to every page with a finger', async () => {
    const { page } = tab;
    await page.setViewportSize(PHONE);
    await page.goto(gateway.url + (await placeOf(gateway, 'requests')));
    const first = page.locator('#nav > ul:first-child a');
    const boxes = [];
    for (const link of await first.all()) boxes.push(await link.boundingBox());
    expect(new Set(boxes.map((box) => box?.y)).size).toBe(1);
    for (const box of boxes) expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThan(PHONE.width);
    for (const name of ['Events', 'Settings']) {
      await page.getByRole('link', { name, exact: true }).tap();
      await page.getByRole('heading', { name, level: 1 }).waitFor();
    }
    const settings = await page.locator('#page [data-row] .what').allTextContents();
    expect(settings.length).toBeGreaterThan(8);
    for (const name of settings) {
      await page.getByRole('link', { name: new RegExp(`^${name}`) }).tap();
      await page.getByRole('heading', { name, level: 1 }).waitFor();
      expect(await tab.isTooWide()).toBe(false);
      expect(await tab.smallTargets()).toEqual([]);
      await page.getByRole('link', { name: 'Settings', exact: true }).tap();
      await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor();
    }
    expect(await tab.violations()).toEqual([]);
    expect(tab.complaints).toEqual([]);
  });

  it('goes by keyboard alone', async () => {
    const { page } = tab;
    await page.setViewportSize(DESKTOP);
    await page.goto(gateway.url + (await placeOf(gateway, 'requests')));
    await pressUntil('Tab', 'Settings');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor();
    await pressUntil('Tab', 'Keys');
    expect((await tab.focused()).outline).toBe('solid 3px');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor();
    expect(await page.locator('time[data-age]').first().textContent()).toMatch(/^just now$| ago$/);
    const current = page.locator('#side [aria-current="page"]');
    expect(await current.textContent()).toBe('Keys');
    await page.waitForLoadState();
    await page.keyboard.type('gr');
    await page.getByRole('heading', { name: 'Requests', level: 1 }).waitFor();
    await page.waitForLoadState();
    await page.keyboard.type('gs');
    await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor();
    await page.waitForLoadState();
    await pressUntil('Tab', 'Skip to content');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('page');
    expect(await tab.violations()).toEqual([]);
    expect(tab.complaints).toEqual([]);
  });
});
