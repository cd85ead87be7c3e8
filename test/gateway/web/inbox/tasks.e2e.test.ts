import { readFileSync } from 'node:fs';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { linkToken, tokensOf } from '../../../helpers/outbox.ts';
import { hasChromium, openBrowser, Tab } from '../pages/browser.ts';
import { DEAD_REASON } from './full/events.ts';
import { FullProject, OWNER } from './full/project.ts';

/** Somebody who only follows what they see on the page, and whose clicks are counted. */
class Person {
  readonly tab: Tab;
  clicks = 0;
  /** Pages that they read, from the overview on. */
  pages = 1;

  private constructor(tab: Tab) {
    this.tab = tab;
  }

  get page(): Page {
    return this.tab.page;
  }

  /** Signs in by mail, starting from the bare address. */
  static async signedIn(browser: Browser, full: FullProject): Promise<Person> {
    const { url, folder } = full.gateway;
    const tab = await Tab.open(browser, { size: 'desktop' });
    const { page } = tab;
    await page.goto(url);
    const before = tokensOf(folder, 'ui/sign-in').length;
    await page.getByLabel('Your email address').fill(OWNER);
    await page.getByRole('button', { name: 'Email me a link' }).click();
    await page.getByRole('heading', { name: 'Check your email' }).waitFor();
    await page.goto(`${url}/ui/sign-in/${await linkToken(folder, 'ui/sign-in', before + 1)}`);
    await page.getByRole('button', { name: 'Open the inbox' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    return new Person(tab);
  }

  /** Begins again at the bare address, signed in as they are. */
  async begin(url: string): Promise<void> {
    await this.page.goto(url);
    await this.page.getByRole('heading', { name: 'Overview' }).waitFor();
    this.clicks = 0;
    this.pages = 1;
  }

  /** Follows a link, or presses a button, that leads to a page with this heading. */
  async open(what: Locator, heading: string | RegExp): Promise<void> {
    await what.click();
    this.clicks += 1;
    this.pages += 1;
    await this.page.getByRole('heading', { name: heading, level: 1 }).waitFor();
    await this.page.waitForLoadState();
  }

  /** Opens a part of the page. */
  async unfold(what: Locator): Promise<void> {
    await what.click();
    this.clicks += 1;
  }

  link(name: string | RegExp): Locator {
    return this.page.getByRole('link', { name }).first();
  }

  button(name: string | RegExp): Locator {
    return this.page.getByRole('button', { name });
  }
}

/** The rows of the table in the documentation: a question, and how many clicks and pages it takes. */
function promised(): Map<string, string> {
  const text = readFileSync('docs/web-inbox.md', 'utf8');
  const rows = text.matchAll(/^\| ([A-Z][^|]*[?.]) +\| +(\d+) +\| +(\d+) +\|/gm);
  return new Map([...rows].map(([, task = '', ...counts]) => [task, counts.join(' clicks, ')]));
}

describe.skipIf(!hasChromium())('what people come for', () => {
  let browser: Browser;
  let full: FullProject;
  let person: Person;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser.close());
  // One of them ends a key, and with it what that key asked.
  beforeEach(async () => {
    full = await FullProject.filled();
    person = await Person.signedIn(browser, full);
  });
  afterEach(() => full.stop());

  const tasks: Record<string, () => Promise<void>> = {
    'Why was this invoice not processed?': async () => {
      await person.open(person.link(/failed for good/), 'Events');
      await person.open(person.link(/^invoice\.payment_failed/), 'invoice.payment_failed');
      await person.page.getByText(DEAD_REASON).waitFor();
    },
    'What did the agent send to Ines?': async () => {
      await person.open(person.link('Mail'), 'Mail');
      await person.open(person.link(/Ines Ferreira/), 'A broken shelf in order 20418');
      await person.page.getByText('A new one would take nine days').first().waitFor();
    },
    'Stop the deploy bot.': async () => {
      await person.open(person.link(/Deploy shop v2\.41/), 'Approve this action?');
      await person.open(person.link('deploy-bot'), 'deploy-bot');
      await person.open(person.link('Revoke…'), 'Revoke this key?');
      await person.open(person.button('Yes, revoke it'), 'Key revoked');
    },
    'Approve what waits, and say why.': async () => {
      await person.open(person.link(/Deploy shop v2\.41/), 'Approve this action?');
      await person.unfold(person.page.getByText('Add a comment'));
      await person.page.getByLabel('The agent reads it.').fill('Go, I’m here until six.');
      await person.open(person.button(/^Approve$/), 'Approved');
      await person.page.getByText('Go, I’m here until six.').waitFor();
    },
    'Send yesterday’s failed deliveries of a route again.': async () => {
      await person.open(person.link(/^Route to .*given up/), /^127\.0\.0\.1/);
      await person.open(person.button(/^Retry all now/), /^127\.0\.0\.1/);
      await person.page.getByText('Retrying 3 deliveries now.').waitFor();
    },
  };

  it.each(Object.entries(tasks))('%s', async (task, does) => {
    await person.begin(full.gateway.url);
    await does();
    expect(`${person.clicks} clicks, ${person.pages}`).toBe(promised().get(task));
    // The bare address says that it needs a session.
    expect(person.tab.complaints.filter((text) => !text.includes('401'))).toEqual([]);
  });
});
