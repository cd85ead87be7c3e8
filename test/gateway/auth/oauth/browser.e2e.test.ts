import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser as Chromium } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock, TestGateway } from '../../../helpers/gateway.ts';
import { linkToken, tokensOf } from '../../../helpers/outbox.ts';
import { hasChromium, LOOKS, openBrowser, Tab, type Look } from '../../web/pages/browser.ts';
import { Person } from '../sign-in/person.ts';
import { ANA, RawApp } from './app.ts';

const HOUR_MS = 3_600_000;
const HOSTILE = `</p><h1>Safe</h1>\u202e \u0441yrillic ${'W'.repeat(60)}`;

const clock = new FakeClock();
let gateway: TestGateway;
let chromium: Chromium;
/** The app's own web server: another site, which has a link and takes codes. */
let site: Server;
let callback = '';
let begins = '';

/** An app whose page begins at another site; the answer's address is what the app got. */
async function appWith(name: string, fields: Readonly<Record<string, string>> = {}) {
  const app = await RawApp.registered(gateway, { client_name: name, redirect_uris: [callback] });
  begins = gateway.url + app.url({ redirect_uri: callback, ...fields });
  return app;
}

/** Follows the app's link, and signs in where that is asked for. */
async function arrive(tab: Tab, isIn: boolean): Promise<void> {
  const { page } = tab;
  await page.goto(callback.replace('/back', '/'));
  await page.getByRole('link', { name: 'Connect' }).click();
  await page.getByRole('link', { name: 'Continue' }).click();
  if (isIn) return;
  await page.getByRole('heading', { name: 'Sign in to connect an app' }).waitFor();
  const before = tokensOf(gateway.folder, 'ui/sign-in').length;
  await page.getByLabel('Your email address').fill(ANA);
  await page.getByRole('button', { name: 'Email me a link' }).click();
  await page.getByText('Open the link in this browser').waitFor();
  const token = await linkToken(gateway.folder, 'ui/sign-in', before + 1);
  await page.goto(`${gateway.url}/ui/sign-in/${token}`);
  await page.getByRole('button', { name: 'Open the inbox' }).click();
}

describe.skipIf(!hasChromium())('letting an app in, in a browser', () => {
  beforeAll(async () => {
    gateway = await TestGateway.start({ clock, signIn: true });
    await new Person(gateway, ANA).project({ name: 'Acme Shop' });
    site = createServer((request, response) => {
      const link = begins.replaceAll('&', '&amp;');
      const isBack = request.url?.startsWith('/back') ?? false;
      // As some apps do: the callback leads on to another origin.
      if (isBack) response.writeHead(302, { location: `${callback}/../done${request.url}` }).end();
      else response.end(`<title>App</title><a href="${link}">Connect</a>`);
    });
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    callback = `http://localhost:${(site.address() as AddressInfo).port}/back`;
    chromium = await openBrowser();
  });
  afterAll(async () => {
    await chromium.close();
    site.closeAllConnections();
    site.close();
    await gateway.stop();
  });
  // No more than so many may sign in an hour.
  beforeEach(() => clock.advance(HOUR_MS));

  const named = LOOKS.map(
    (look) =>
      [`${look.size}, ${look.scheme}, scripts ${look.scripts ? 'on' : 'off'}`, look] as const,
  );

  it.each(named)('works from another site: %s', async (_name, look: Look) => {
    const app = await appWith('Trip Planner');
    const tab = await Tab.open(chromium, look);
    const { page } = tab;
    await arrive(tab, false);
    await page.getByRole('heading', { name: 'Let this app use your project?' }).waitFor();
    await page.getByLabel(/^inbox:write/).check();
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.waitForURL(/\/done/);
    const code = /code=([^&]+)/.exec(decodeURIComponent(page.url()))?.[1] ?? '';
    const { body } = await app.exchange(code, { redirect_uri: callback });
    expect(body['scope']).toBe('ledger:read inbox:read inbox:write disk:read');

    // The session lasts, and is there although another site leads here.
    await arrive(tab, true);
    await page.getByRole('button', { name: 'Deny' }).click();
    await page.waitForURL(/access_denied/);
    expect(tab.complaints.filter((one) => !one.includes('401'))).toEqual([]);
    await tab.close();
  });

  it.each(named.filter(([, look]) => look.scripts))(
    'is in nobody’s way: %s',
    async (name, look: Look) => {
      await appWith(HOSTILE);
      const tab = await Tab.open(chromium, look);
      const { page } = tab;
      const fits = async (title: string) => {
        expect([title, await tab.violations()]).toEqual([title, []]);
        expect([title, await tab.smallTargets()]).toEqual([title, []]);
        expect([title, await tab.isTooWide()]).toEqual([title, false]);
        const folder = process.env['SVC_TEST_SHOTS'];
        const path = `${folder}/${name}-${title}.png`.replaceAll(/[ ,]+/g, '-');
        if (folder !== undefined) await page.screenshot({ path, fullPage: true });
      };
      await arrive(tab, false);
      await page.getByRole('heading', { name: 'Let this app use your project?' }).waitFor();
      expect(await page.getByRole('heading', { level: 1 }).count()).toBe(1);
      await fits('consent');
      for (const box of await page.getByRole('checkbox').all()) await box.uncheck();
      await page.getByRole('button', { name: 'Allow' }).click();
      await page.getByRole('alert').waitFor();
      await fits('refused');
      await page.goto(`${gateway.url}/ui/authorize?client_id=unknown`);
      await fits('stopped');
      await tab.close();
    },
  );
});
