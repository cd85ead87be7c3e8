import type { Browser, Request } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { arrived, mailWith } from '../../mail/inbound/arrivals.ts';
import { TestSending } from '../../mail/outbound/sending.ts';
import { hasChromium, openBrowser, Tab } from '../pages/browser.ts';
import { placeOf } from './places.ts';
import { openAs } from './visitor-tab.ts';
import { WebVisitor } from './web-visitor.ts';

let mail: TestSending;
let browser: Browser;

describe.skipIf(!hasChromium())(
  'the HTML of a mail in the browser of a person who is signed in',
  () => {
    beforeAll(async () => {
      mail = await TestSending.start({ contentHost: 'content.localhost' });
      browser = await openBrowser();
    });
    afterAll(async () => {
      await browser.close();
      await mail.stop();
    });

    it('is on another origin, which gets no cookie and sets none', async () => {
      const { gateway } = mail;
      const { port } = new URL(gateway.url);
      const html = `<title>A mail</title><script>document.title = 'owned'</script>
      <p>Two of them.</p><img src="${gateway.url}/ui/style.css">
      <form method="post" action="${gateway.url}/ui/sign-out"><button>Win</button></form>`;
      const id = await arrived(mail, mailWith({}, { html: Buffer.from(html) }));
      const visitor = await WebVisitor.withKey(gateway);
      const tab = await Tab.open(browser, { size: 'desktop' });
      const context = tab.page.context();
      const [name = '', value = ''] = visitor.cookie?.split('=') ?? [];
      await context.addCookies([
        { name, value, url: gateway.url, httpOnly: true, sameSite: 'Strict' },
      ]);
      const asked: Request[] = [];
      context.on('request', (request) => asked.push(request));
      await tab.page.goto(gateway.url + (await placeOf(gateway, 'events', id)));
      const opened = context.waitForEvent('page');
      await tab.page.locator('a[href*="/m/"]').click();
      const shown = await opened;
      await shown.getByText('Two of them.').waitFor();
      expect(new URL(shown.url()).origin).toBe(`http://content.localhost:${port}`);
      expect(await shown.title()).toBe('A mail');
      await shown.getByRole('button', { name: 'Win' }).click();
      await shown.goto(`http://content.localhost:${port}/ui`);
      expect(await shown.locator('body').textContent()).toContain('NOT_FOUND');
      const there = asked.filter((request) => new URL(request.url()).hostname !== '127.0.0.1');
      const sent = await Promise.all(there.map((request) => request.allHeaders()));
      expect(sent.length).toBeGreaterThanOrEqual(2);
      expect(sent.filter((headers) => 'cookie' in headers || 'referer' in headers)).toEqual([]);
      expect(await context.cookies(`http://content.localhost:${port}/ui`)).toEqual([]);
      // The person is signed in as before.
      expect(await context.cookies(gateway.url)).toHaveLength(1);
      await tab.page.reload();
      await tab.page.getByRole('button', { name: 'Sign out' }).waitFor();
      await tab.close();
    });

    it('is there too for mail that the machine keeps, whose files only download', async () => {
      const { gateway } = mail;
      await mail.allowAll();
      await mail.file('page.html', '<script>alert(1)</script>');
      const html = `<title>Kept</title><script>document.title = 'owned'</script><p>Two of them.</p>`;
      const id = await mail.sent({ html, attachments: ['page.html'] });
      const [message] = await mail.ended(id);
      const visitor = await WebVisitor.withKey(gateway);
      const tab = await openAs(browser, gateway, visitor, { size: 'desktop' });
      const { page } = tab;
      const place = gateway.url + (await placeOf(gateway, 'outbox', message?.message_id));
      await page.goto(place);
      for (const [name, saved] of [
        ['page.html', 'page.html'],
        ['Download the mail (.eml)', `${message?.message_id}.eml`],
      ] as const) {
        const started = page.waitForEvent('download');
        await page.getByRole('link', { name }).click();
        const download = await started;
        expect(download.suggestedFilename()).toBe(saved);
        expect(new URL(download.url()).hostname).toBe('content.localhost');
      }
      expect(page.url()).toBe(place);
      const opened = page.context().waitForEvent('page');
      await page.getByRole('link', { name: 'Open the formatted email' }).click();
      const shown = await opened;
      await shown.getByText('Two of them.').waitFor();
      expect(new URL(shown.url()).hostname).toBe('content.localhost');
      expect(await shown.title()).toBe('Kept');
      await tab.close();
    });
  },
);
