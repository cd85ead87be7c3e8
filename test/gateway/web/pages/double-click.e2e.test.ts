import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestGateway } from '../../../helpers/gateway.ts';
import { linkToken } from '../../../helpers/outbox.ts';
import { readPage } from '../../../helpers/reading.ts';
import { ANA, RawApp } from '../../auth/oauth/app.ts';
import { Person } from '../../auth/sign-in/person.ts';
import { WebVisitor } from '../inbox/web-visitor.ts';
import { hasChromium, openBrowser } from './browser.ts';

/** As fast as people press twice. */
const DOUBLE_CLICK_MS = 39;
const READING_MS = 1000;
const SIZE = { width: 900, height: 700 };

let gateway: TestGateway;
let key: string;
let browser: Browser;
let context: BrowserContext;
let elsewhere: Server;
let url: string;
let page: Page;
/** The page behind the button of the other site. */
let target = '';

// Another site, whose button opens a page of ours in a window of its own, under the pointer.
const LURE = (opens: string): string => `<!doctype html><body style="margin:0">
<button id="play" style="width:100vw;height:100vh" onmousedown="open('${opens}', '_blank', 'popup')">Play</button>`;

/** Presses twice at the place where our page has a button; the second press finds our page. */
async function lure(button: RegExp, times = 1): Promise<Page> {
  await page.goto(url);
  const opening = context.waitForEvent('page');
  await page.mouse.move(450, 350);
  await page.mouse.down();
  await page.mouse.up();
  const shown = await opening;
  await shown.waitForLoadState();
  for (let press = 0; press < times; press += 1) {
    const box = await shown.locator('.btn').filter({ hasText: button }).first().boundingBox();
    const [x, y] = box ? [box.x + box.width / 2, box.y + box.height / 2] : [450, 350];
    await shown.waitForTimeout(DOUBLE_CLICK_MS);
    await shown.mouse.click(x, y);
  }
  return shown;
}

async function apps(): Promise<number> {
  const { body } = await gateway.call<{ items: { client: string | null }[] }>('GET', '/v1/keys', {
    key,
  });
  return body.items.filter(({ client }) => client !== null).length;
}

async function asked(): Promise<string> {
  const body = { action: 'deploy', summary: 'Deploy it', wait_seconds: 0 };
  const answer = await gateway.call<{ request_id: string }>('POST', '/v1/requests', { body, key });
  return answer.body.request_id;
}

/** A second passes, for the page and for the gateway; until then the page's time stands still. */
async function reads(shown: Page): Promise<void> {
  await context.clock.runFor(READING_MS);
  await shown.locator('html[data-ready]').waitFor({ state: 'attached' });
  await readPage(gateway.url);
}

describe.runIf(hasChromium())('a double click on another site', () => {
  beforeAll(async () => {
    gateway = await TestGateway.start({ signIn: true });
    key = (await new Person(gateway, ANA).project({ name: 'Acme' })).api_key;
    const visitor = await WebVisitor.asOwner(gateway, ANA);
    elsewhere = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html');
      response.end(LURE(target));
    });
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
    url = `http://localhost:${(elsewhere.address() as AddressInfo).port}`;
    browser = await openBrowser();
    context = await browser.newContext({ viewport: SIZE });
    await context.clock.install();
    await context.clock.pauseAt(Date.now() + 60_000);
    const [name = '', value = ''] = visitor.cookie?.split('=') ?? [];
    await context.addCookies([
      { name, value, url: `${gateway.url}/ui`, httpOnly: true, sameSite: 'Strict' },
    ]);
    page = await context.newPage();
  });
  afterAll(async () => {
    await browser.close();
    elsewhere.close();
    await gateway.stop();
  });

  it('connects no app: the person continues first, and Allow works once they could read', async () => {
    const app = await RawApp.registered(gateway);
    target = gateway.url + app.url();
    const shown = await lure(/Continue|Allow/);
    expect(await shown.getByRole('heading', { level: 1 }).textContent()).toBe('Connect an app?');
    await reads(shown);
    await shown.getByRole('link', { name: 'Continue' }).click();
    const allow = shown.getByRole('button', { name: 'Allow' });
    await allow.waitFor();
    for (let press = 0; press < 8; press += 1) {
      await allow.click();
      await shown.waitForTimeout(DOUBLE_CLICK_MS);
    }
    expect(await allow.isVisible()).toBe(true);
    expect(await apps()).toBe(0);
    await reads(shown);
    await allow.click();
    // The next page goes on to the app at once.
    await expect.poll(apps).toBe(1);
    await shown.close();
  });

  it('decides no request whose mailed link the other site knows', async () => {
    const id = await asked();
    target = `${gateway.url}/a/${await linkToken(gateway.folder, 'a')}`;
    const shown = await lure(/^Approve/, 6);
    const { body } = await gateway.call('GET', `/v1/requests/${id}`, { key });
    expect(body['status']).toBe('pending');
    await reads(shown);
    await shown.getByRole('button', { name: /^Approve/ }).click();
    await shown.getByRole('heading', { name: 'Approved' }).waitFor();
    await shown.close();
  });

  it('decides nothing while a key is held down, or when the window came to the front just now', async () => {
    await asked();
    target = `${gateway.url}/a/${await linkToken(gateway.folder, 'a', 2)}`;
    const shown = await context.newPage();
    await shown.goto(target);
    await reads(shown);
    const approve = shown.getByRole('button', { name: /^Approve/ });
    await approve.focus();
    await shown.evaluate(
      `document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', repeat: true, bubbles: true, cancelable: true }))`,
    );
    await shown.evaluate(`dispatchEvent(new Event('focus'))`);
    expect(await shown.locator('html[data-ready]').count()).toBe(0);
    await approve.click();
    expect(await shown.locator('form[data-held]').count()).toBe(1);
    expect(await approve.isVisible()).toBe(true);
    await shown.close();
  });

  it('says to a screen reader why a press did nothing, and when the next one works', async () => {
    const visited = [
      `${gateway.url}/a/${await linkToken(gateway.folder, 'a', 2)}`,
      `${gateway.url}/ui/p/acme/keys?add`,
    ];
    for (const address of visited) {
      const shown = await context.newPage();
      await shown.goto(address);
      const note = shown.locator('[role=status]#held');
      expect(await note.textContent()).toBe('');
      const press = `document.querySelector('main form[method=post] button:not([type=button])').click()`;
      await shown.evaluate(press);
      await shown.evaluate(press);
      expect(await note.textContent()).toBe(
        'Not done: the page was in front for less than a second. Wait a second, then press again.',
      );
      await reads(shown);
      expect(await note.textContent()).toBe('You can press it now.');
      await shown.close();
    }
  });

  it('does not keep a screen reader out, nor who turned the phone while they read', async () => {
    const presses = [
      // Assistive programs click without a key or a pointer that goes down.
      (shown: Page) => shown.evaluate(`document.querySelector('button[value=approve]').click()`),
      async (shown: Page) => {
        await shown.setViewportSize({ width: SIZE.height, height: SIZE.width });
        await shown.locator('html:not([data-ready])').waitFor({ state: 'attached' });
        await reads(shown);
        await shown.getByRole('button', { name: /^Approve/ }).click();
      },
    ];
    for (const [nth, press] of presses.entries()) {
      await asked();
      const shown = await context.newPage();
      await shown.goto(`${gateway.url}/a/${await linkToken(gateway.folder, 'a', 3 + nth)}`);
      await reads(shown);
      await press(shown);
      await shown.getByRole('heading', { name: 'Approved' }).waitFor();
      expect(await shown.locator('form').count()).toBe(0);
      await shown.close();
    }
  });
});
