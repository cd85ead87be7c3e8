import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock, TestGateway } from '../../../helpers/gateway.ts';
import { linkToken, tokensOf } from '../../../helpers/outbox.ts';
import { hasChromium, LOOKS, openBrowser, Tab, type Look } from '../pages/browser.ts';
import { ask, linkFor, pathOf, WebVisitor } from './web-visitor.ts';

const OWNER = 'ana@example.com';
const HOSTILE = {
  summary: `</a><script>document.title='owned'</script> \u202eevil ${'W'.repeat(150)}`,
  details: `<img src=x onerror=alert(1)>\n${'W'.repeat(2000)}`,
};

const HOUR_MS = 3_600_000;

const clock = new FakeClock();
let gateway: TestGateway;
let browser: Browser;
let list: string;

/** Signs the owner in, as a person does. */
async function signIn(tab: Tab): Promise<void> {
  const before = tokensOf(gateway.folder, 'ui/sign-in').length;
  await tab.page.goto(`${gateway.url}/ui/sign-in`);
  await tab.page.getByLabel('Your email address').fill(OWNER);
  await tab.page.getByRole('button', { name: 'Email me a link' }).click();
  await tab.page.getByRole('heading', { name: 'Check your email' }).waitFor();
  const token = await linkToken(gateway.folder, 'ui/sign-in', before + 1);
  await tab.page.goto(`${gateway.url}/ui/sign-in/${token}`);
  await tab.page.getByRole('button', { name: 'Open the inbox' }).click();
  await tab.page.getByRole('link', { name: 'Requests' }).first().click();
  await tab.page.getByRole('heading', { name: 'Requests' }).waitFor();
  // With its script, which keys and the mouse need.
  await tab.page.waitForLoadState();
}

/** The pages as a key sees them. */
async function openedBy(apiKey: string): Promise<{ page: Page; close: () => Promise<void> }> {
  const tab = await Tab.open(browser, { size: 'desktop' });
  await tab.page.goto(gateway.url + (await linkFor(gateway, apiKey, 'requests')));
  await tab.page.waitForURL(`**${list}`);
  return { page: tab.page, close: () => tab.close() };
}

describe.skipIf(!hasChromium())('the web inbox in a browser', () => {
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser.close());

  const named = LOOKS.map(
    (look) =>
      [`${look.size}, ${look.scheme}, scripts ${look.scripts ? 'on' : 'off'}`, look] as const,
  );

  it.each(named)('an owner signs in, decides and leaves: %s', async (_name, look: Look) => {
    gateway = await TestGateway.start();
    await gateway.gateway.setOwner(gateway.projectId, OWNER);
    await ask(gateway, { summary: 'Pay Bob', risk: 'high', details: 'All of it.' });
    await ask(gateway, { question: 'Where to?', options: ['Dublin'] });
    const tab = await Tab.open(browser, look);
    const { page } = tab;
    await signIn(tab);
    expect(await page.title()).toBe('(2) Requests · Test');
    await page.getByRole('link', { name: /Pay Bob/ }).click();
    await page.getByRole('button', { name: /^Approve/ }).click();
    await page.getByRole('heading', { name: 'Approve this high-risk action?' }).waitFor();
    await page.getByRole('button', { name: /^Yes, approve/ }).click();
    await page.getByRole('heading', { name: 'Approved' }).waitFor();
    await page.getByRole('link', { name: 'All requests' }).click();
    await page.getByRole('link', { name: /Where to\?/ }).click();
    await page.getByRole('button', { name: 'Answer: Dublin' }).click();
    await page.getByRole('heading', { name: 'Answered' }).waitFor();
    expect(await page.title()).toBe('Question · Test');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'You are signed out' }).waitFor();
    expect(tab.complaints).toEqual([]);
    expect(tab.asked.every((url) => url.startsWith(gateway.url))).toBe(true);
    await tab.close();
    await gateway.stop();
  });

  describe('with a few requests', () => {
    beforeAll(async () => {
      gateway = await TestGateway.start({ clock });
      await gateway.gateway.setOwner(gateway.projectId, OWNER);
      list = await pathOf(gateway);
    });
    afterAll(() => gateway.stop());
    // No more than so many links are mailed an hour.
    beforeEach(() => clock.advance(HOUR_MS));

    it.each(named.filter(([, look]) => look.scripts))(
      'nothing is in anybody’s way: %s',
      async (_name, look: Look) => {
        const tab = await Tab.open(browser, look);
        const id = await ask(gateway, HOSTILE);
        const ended = await ask(gateway, { summary: 'Done' });
        const owner = await WebVisitor.asOwner(gateway, OWNER);
        await owner.get(await pathOf(gateway, ended));
        await owner.post(await pathOf(gateway, ended), { fields: { verb: 'deny' } });
        const pages = [
          '/ui/sign-in',
          await linkFor(gateway, gateway.apiKey, 'requests'),
          list,
          `${list}?status=denied`,
          await pathOf(gateway, id),
          await pathOf(gateway, ended),
          '/ui/p/nowhere/requests',
        ];
        for (const path of pages) {
          await tab.page.goto(gateway.url + path);
          // A link of one's own is pressed by the script.
          if (path.startsWith('/ui/open/')) await tab.page.waitForURL(`**${list}`);
          expect([path, await tab.violations()]).toEqual([path, []]);
          expect([path, await tab.isTooWide()]).toEqual([path, false]);
          // A mouse needs less than a finger.
          const small = look.size === 'phone' ? await tab.smallTargets() : [];
          expect([path, small]).toEqual([path, []]);
        }
        const failures = tab.complaints.filter((text) => !text.includes('404'));
        expect(failures).toEqual([]);
        await tab.close();
      },
    );

    it('shows a new request by itself, and keeps what has the keyboard', async () => {
      const tab = await Tab.open(browser, { size: 'desktop' });
      const { page } = tab;
      await signIn(tab);
      await ask(gateway, { summary: 'First to be seen' });
      const first = page.getByRole('link', { name: /First to be seen/ });
      await first.waitFor();
      await first.focus();
      await ask(gateway, { action: 'other', summary: 'Second to be seen' });
      await page.getByRole('link', { name: /Second to be seen/ }).waitFor();
      expect((await tab.focused()).words).toContain('First to be seen');
      expect(await page.title()).toMatch(/^\(\d+\) Requests/);
      expect(tab.complaints).toEqual([]);
      await tab.close();
    });

    it('shows how a request ends elsewhere, and takes away nothing that is being written', async () => {
      const path = await pathOf(gateway, await ask(gateway, { action: 'x', summary: 'Elsewhere' }));
      const decideElsewhere = async (): Promise<void> => {
        const other = await WebVisitor.asOwner(gateway, OWNER);
        await other.get(path);
        await other.post(path, { fields: { verb: 'deny' } });
      };
      const [looking, writing] = [await Tab.open(browser), await Tab.open(browser)];
      const owner = await WebVisitor.asOwner(gateway, OWNER);
      const [name = '', value = ''] = owner.cookie?.split('=') ?? [];
      for (const { page } of [looking, writing]) {
        await page.context().addCookies([{ name, value, url: `${gateway.url}/ui` }]);
        await page.goto(gateway.url + path);
      }
      await writing.page.getByText('Add a comment').click();
      await writing.page.getByLabel('The agent reads it.').fill('Half a sen');
      await decideElsewhere();
      await looking.page.getByRole('heading', { name: 'Denied' }).waitFor();
      await writing.page.getByText('Something changed here').waitFor();
      expect(await writing.page.getByLabel('The agent reads it.').inputValue()).toBe('Half a sen');
      expect([...looking.complaints, ...writing.complaints]).toEqual([]);
      await looking.close();
      await writing.close();
    });

    it('loses no click to what changes meanwhile', async () => {
      const tab = await Tab.open(browser, { size: 'desktop' });
      const { page } = tab;
      await ask(gateway, { action: 'c', summary: 'Pressed for long' });
      await signIn(tab);
      await page.getByRole('link', { name: /Pressed for long/ }).hover();
      await page.mouse.down();
      await ask(gateway, { action: 'c', summary: 'Came meanwhile' });
      await sleep(1500);
      expect(await page.getByText('Came meanwhile').count()).toBe(0);
      await page.mouse.up();
      await page.waitForURL('**/req_*');
      await page.getByText('Pressed for long').first().waitFor();
      expect(tab.complaints).toEqual([]);
      await tab.close();
    });

    it('leaves the answer to a form alone, however long it takes', async () => {
      const tab = await Tab.open(browser, { size: 'desktop' });
      const { page } = tab;
      await signIn(tab);
      // The session is over, and the page could know of it before the answer is there.
      await page.route('**/ui/sign-out', async (route) => {
        const answer = await route.fetch({ maxRedirects: 0 });
        await ask(gateway, { action: 'l', summary: 'Nobody looks' });
        await sleep(2000);
        await route.fulfill({ response: answer });
      });
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByRole('heading', { name: 'You are signed out' }).waitFor();
      expect(tab.complaints).toEqual([]);
      await tab.close();
    });

    it('shows nothing more once its session is over, also while somebody writes', async () => {
      const { body } = await gateway.call<{ id: string; api_key: string }>('POST', '/v1/keys', {
        body: { name: 'lost laptop', scopes: ['approvals', 'ledger:read'] },
      });
      const { page, close } = await openedBy(body.api_key);
      await page.goto(`${gateway.url}${list.replace('requests', 'ledger')}`);
      await page.locator('main summary').first().click();
      await page.locator('main input:not([type=hidden])').first().fill('half a wo');
      await gateway.call('DELETE', `/v1/keys/${body.id}`);
      await page.getByRole('heading', { name: 'Open your inbox' }).waitFor();
      expect(await page.content()).not.toContain('half a wo');
      await close();
    });

    it('stays live after another button was pressed', async () => {
      const tab = await Tab.open(browser, { size: 'desktop' });
      const { page } = tab;
      await signIn(tab);
      await page.mouse.move(400, 300);
      await page.mouse.down({ button: 'right' });
      await ask(gateway, { action: 'r', summary: 'Seen all the same' });
      await page.getByText('Seen all the same').waitFor();
      expect(tab.complaints).toEqual([]);
      await tab.close();
    });

    it('goes by keys, which decide nothing by themselves', async () => {
      const tab = await Tab.open(browser, { size: 'desktop' });
      const { page } = tab;
      await ask(gateway, { action: 'k', summary: 'By keys' });
      await signIn(tab);
      await page.keyboard.press('Tab');
      expect((await tab.focused()).words.trim()).toBe('Skip to content');
      await page.keyboard.press('j');
      expect((await tab.focused()).words).toContain('By keys');
      await page.keyboard.press('j');
      expect((await tab.focused()).words).not.toContain('By keys');
      await page.keyboard.press('k');
      await page.keyboard.press('Enter');
      await page.waitForURL('**/req_*');
      await page.keyboard.press('d');
      expect((await tab.focused()).words).toBe('Deny');
      await page.keyboard.press('a');
      expect(await tab.focused()).toEqual({ words: 'Approve', outline: 'solid 3px' });
      await page.keyboard.press('?');
      await page.getByRole('heading', { name: 'Keys' }).waitFor();
      expect(await tab.violations()).toEqual([]);
      await page.keyboard.press('Escape');
      expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(1);
      await page.keyboard.press('u');
      await page.waitForURL(`**${list}`);
      expect(tab.complaints).toEqual([]);
      await tab.close();
    });

    it('gives a page of somebody else neither its cookie nor a frame', async () => {
      const id = await ask(gateway, { action: 'e', summary: 'Evil' });
      const path = await pathOf(gateway, id);
      const evil = createServer((_request, response) => {
        response.setHeader('Content-Type', 'text/html').end(
          `<iframe src="${gateway.url}${path}"></iframe>
           <form method="post" action="${gateway.url}${path}"><input name="verb" value="approve"><button>Win</button></form>`,
        );
      });
      await new Promise<void>((resolve) => evil.listen(0, '127.0.0.1', resolve));
      const tab = await Tab.open(browser);
      await signIn(tab);
      await tab.page.goto(`http://localhost:${(evil.address() as AddressInfo).port}/`);
      const frames = tab.page.frames().map((frame) => frame.url());
      expect(frames).not.toContain(gateway.url + path);
      await tab.page.getByRole('button', { name: 'Win' }).click();
      await tab.page.getByRole('heading', { name: 'Nothing was done' }).waitFor();
      const { body } = await gateway.call('GET', `/v1/requests/${id}`);
      expect(body['status']).toBe('pending');
      await tab.close();
      evil.closeAllConnections();
      await new Promise((resolve) => evil.close(resolve));
    });
  });
});
