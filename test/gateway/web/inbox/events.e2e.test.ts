import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestGateway } from '../../../helpers/gateway.ts';
import { hasChromium, LOOKS, openBrowser, type Tab } from '../pages/browser.ts';
import { claim, placeOf } from './places.ts';
import { foundOn, openAs } from './visitor-tab.ts';
import { WebVisitor } from './web-visitor.ts';

const rowOf = (page: Page, text: string) => page.locator('[data-event]', { hasText: text });
const topOf = (page: Page, text: string) =>
  rowOf(page, text).evaluate((row) => row.getBoundingClientRect().top);
const idOf = async (page: Page, text: string): Promise<string> =>
  (await rowOf(page, text).getAttribute('data-event')) ?? '';

describe.skipIf(!hasChromium())('events in a browser', () => {
  let gateway: TestGateway;
  let visitor: WebVisitor;
  let browser: Browser;
  let hook: string;
  let list: string;
  beforeAll(async () => {
    gateway = await TestGateway.start();
    visitor = await WebVisitor.withKey(gateway);
    browser = await openBrowser();
    hook = await gateway.addSource({ name: 'shop' });
    list = await placeOf(gateway, 'events');
    for (let n = 0; n < 30; n += 1) await send({ order: `old-${n}` });
  });
  afterAll(async () => {
    await browser.close();
    await gateway.stop();
  });

  let count = 0;
  const send = async (payload: unknown): Promise<string> => {
    count += 1;
    const headers = { 'content-type': 'application/json', 'webhook-id': `d${count}` };
    const { body } = await gateway.deliver(hook, JSON.stringify(payload), headers);
    return String(body['event_id']);
  };
  const opened = async (path: string): Promise<Tab> => {
    const tab = await openAs(browser, gateway, visitor, { size: 'desktop' });
    await tab.page.goto(gateway.url + path);
    await tab.page.waitForLoadState();
    return tab;
  };

  it('come in at the top, and wait behind a bar while somebody reads further down', async () => {
    const tab = await opened(list);
    const { page } = tab;
    await send({ order: 'seen-at-once' });
    await rowOf(page, 'seen-at-once').waitFor();
    await page.evaluate('scrollTo(0, 600)');
    const before = await topOf(page, 'old-20');
    await send({ order: 'waits-one' });
    await page.getByRole('button', { name: '1 new event' }).waitFor();
    await send({ order: 'waits-two' });
    await page.getByRole('button', { name: '2 new events' }).waitFor();
    expect(await rowOf(page, 'waits-one').count()).toBe(0);
    expect(await topOf(page, 'old-20')).toBe(before);
    // What is on the page changes where it is.
    await claim(gateway, await idOf(page, 'old-20'));
    await rowOf(page, 'old-20').getByText('Claimed').waitFor();
    expect(await topOf(page, 'old-20')).toBe(before);
    await page.getByRole('button', { name: '2 new events' }).click();
    await rowOf(page, 'waits-two').waitFor();
    expect(await page.evaluate('scrollY')).toBe(0);
    expect(tab.complaints).toEqual([]);
    await tab.close();
  });

  it('stay selected while others come in, and are discarded together', async () => {
    const [one, two] = [await send({ order: 'pick-one' }), await send({ order: 'pick-two' })];
    const tab = await opened(list);
    const { page } = tab;
    await rowOf(page, 'pick-one').getByRole('checkbox').check();
    await page.keyboard.press('k');
    await page.keyboard.press('x');
    await page.getByText('2 selected:').waitFor();
    await send({ order: 'meanwhile' });
    await page.getByRole('button', { name: '1 new event' }).waitFor();
    await page.getByText('2 selected:').waitFor();
    await page.getByRole('button', { name: 'Discard' }).click();
    await page.getByRole('button', { name: 'Yes, discard 2 events' }).click();
    await page.getByText('2 events discarded.').waitFor();
    for (const id of [one, two]) {
      const { body } = await gateway.call('GET', `/v1/inbox/events/${id}`);
      expect(body['status']).toBe('done');
    }
    expect(tab.complaints).toEqual([]);
    await tab.close();
  });

  it('are found by a word, from the keyboard', async () => {
    const id = await send({ who: 'Zoë Ng', text: 'Where is my parcel?' });
    const tab = await opened(list);
    const { page } = tab;
    await page.keyboard.press('/');
    await page.keyboard.type('zoe parcel');
    await page.keyboard.press('Enter');
    await page.waitForURL(/q=zoe/);
    expect(await page.locator('[data-event]').count()).toBe(1);
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/events/${id}`);
    await tab.close();
  });

  it('have a tree that is searched, walked and copied from', async () => {
    const lines = Array.from({ length: 60 }, (_, n) => ({ sku: `sku-${n}`, price: n }));
    const id = await send({ order: { lines, customer: { email: 'ana@example.com' } } });
    const tab = await opened(`${list}/${id}`);
    const { page } = tab;
    const path = () => page.locator('#tree-path').inputValue();
    await page.fill('#tree-search', 'sku-4');
    await page.getByText('1 of 11').waitFor();
    await page.keyboard.press('Enter');
    expect(await path()).toBe('.order.lines[40].sku');
    await page.getByText('sku-40', { exact: true }).waitFor();
    await page.locator('summary', { hasText: 'customer' }).click();
    await page.keyboard.press('ArrowDown');
    expect(await path()).toBe('.order.customer.email');
    // A refresh leaves the tree as it is.
    await claim(gateway, id);
    await page.getByText('Release the lease').waitFor();
    expect(await page.locator('#tree-search').inputValue()).toBe('sku-4');
    expect(await path()).toBe('.order.customer.email');
    await page.getByText('sku-40', { exact: true }).waitFor();
    expect(tab.complaints).toEqual([]);
    await tab.close();
  });

  const looks = LOOKS.filter(({ scripts }) => scripts).map(
    (look) => [`${look.size}, ${look.scheme}`, look] as const,
  );

  it.each(looks)('are in nobody’s way: %s', async (_name, look) => {
    const text = `</li><script>document.title='owned'</script> \u202eevil ${'W'.repeat(300)}`;
    const id = await send({ [text]: [{ text }, 1, null], 'W W': text.repeat(20), deep: { a: {} } });
    const paths = [list, `${list}?q=owned`, `${list}?status=dead`, `${list}/${id}?step=discard`];
    for (const view of ['tree', 'raw', 'headers', 'copy']) paths.push(`${list}/${id}?view=${view}`);
    const tab = await openAs(browser, gateway, visitor, look);
    expect(await foundOn(tab, gateway, paths, look)).toEqual([]);
    await tab.close();
  });
});
