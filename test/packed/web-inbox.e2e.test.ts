import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasChromium, openBrowser, Tab } from '../gateway/web/pages/browser.ts';
import { linkToken } from '../helpers/outbox.ts';
import { installPackage } from './installed.ts';
import { Machine, type Process } from './machine.ts';

const OWNER = 'ana@example.com';

const installed = await installPackage();

/** The link of a row that names this, which may be about to come. */
function row(page: Page, text: string) {
  return page.getByRole('link', { name: text });
}

describe.runIf(installed && hasChromium())('the web inbox of the installed package', () => {
  let machine: Machine;
  let browser: Browser;
  let base: string;
  let dataFolder: string;

  beforeAll(async () => {
    browser = await openBrowser();
    machine = new Machine(installed);
    const up = await machine.json<{ base_url: string }>('up', '--port', '0', '--owner', OWNER);
    base = up.base_url;
    ({ data_folder: dataFolder } = await machine.json<{ data_folder: string }>('status'));
    await machine.svc('source', 'add', 'shop');
    await machine.svc('trigger', 'webhook', '--source', 'shop');
  });
  afterAll(async () => {
    await browser.close();
    await machine.remove();
  });

  function ask(summary: string): Process {
    return machine.start(['ask', 'approval', 'deploy', summary, '--wait-seconds', '90', '--json']);
  }

  it('opens by `svc open`, has all its pages, and shows at once what agents ask', async () => {
    const tab = await Tab.open(browser, { size: 'desktop' });
    const { page } = tab;
    const { url } = await machine.json<{ url: string }>('open', 'requests', '--print');
    await page.goto(url);
    await page.waitForURL(`${base}/ui/p/local/requests`);
    const asking = ask('Deploy v7');
    await row(page, 'Deploy v7').waitFor();

    const links = await page.locator('nav a').evaluateAll((all) => all.map((one) => String(one)));
    const pages = [...new Set(links)].filter((link) => link.startsWith(`${base}/ui/p/`));
    expect(pages.length).toBeGreaterThan(7);
    for (const link of pages) {
      const answer = await page.goto(link);
      expect([link, answer?.status()]).toEqual([link, 200]);
      expect([link, await page.locator('h1').count()]).toEqual([link, 1]);
    }
    expect(tab.complaints).toEqual([]);
    expect(tab.asked.filter((one) => !one.startsWith(base))).toEqual([]);
    await tab.close();
    await asking.end('SIGINT');
  });

  it('lets the owner in by a mailed link, who decides there while the agent waits', async () => {
    const asking = ask('Deploy v8');
    const tab = await Tab.open(browser);
    const { page } = tab;
    await page.goto(`${base}/ui/sign-in`);
    await page.locator('input[type=email]').fill(OWNER);
    await page.locator('main form button').click();
    const token = await linkToken(dataFolder, 'ui/sign-in');
    await page.goto(`${base}/ui/sign-in/${token}`);
    await page.locator('main form button.yes').click();
    await row(page, 'Deploy v8').click();
    await page.getByRole('button', { name: /^Approve/ }).click();
    const { code, out } = await asking.ended;
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ status: 'approved' });
    expect(tab.complaints).toEqual([]);
    await tab.close();
  });
});
