import type { Browser } from 'playwright-core';
import type { TestGateway } from '../../../helpers/gateway.ts';
import { Tab, type Look } from '../pages/browser.ts';
import type { WebVisitor } from './web-visitor.ts';

/** A tab of a browser in which somebody is signed in to the web inbox. */
export async function openAs(
  browser: Browser,
  gateway: TestGateway,
  visitor: WebVisitor,
  look: Partial<Look> = {},
): Promise<Tab> {
  const tab = await Tab.open(browser, look);
  const [name = '', value = ''] = visitor.cookie?.split('=') ?? [];
  await tab.page.context().addCookies([{ name, value, url: `${gateway.url}/ui` }]);
  return tab;
}

/** Goes to each page, with all of it open: what is in somebody's way there, and what strangers wrote has done. */
export async function foundOn(
  tab: Tab,
  gateway: TestGateway,
  paths: readonly string[],
  { size }: Look,
): Promise<unknown[]> {
  const found: unknown[] = [];
  for (const path of paths) {
    await tab.page.goto(gateway.url + path);
    const closed = tab.page.locator('main details:not([open]) > summary');
    while ((await closed.count()) > 0) await closed.first().click();
    const violations = await tab.violations();
    const isTooWide = await tab.isTooWide();
    const small = size === 'phone' ? await tab.smallTargets() : [];
    const isOwned = (await tab.page.title()).includes('owned');
    if (violations.length + small.length > 0 || isTooWide || isOwned) {
      found.push({ path, violations, isTooWide, small, isOwned });
    }
  }
  const elsewhere = tab.asked.filter((url) => !url.startsWith(gateway.url));
  return [...found, ...tab.complaints, ...elsewhere];
}
