import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeClock, TestGateway } from '../../../helpers/gateway.ts';
import { LOOPBACK, Receiver } from '../../callbacks/callback-receiver.ts';
import { hasChromium, LOOKS, openBrowser, type Look, type Tab } from '../pages/browser.ts';
import { projectOf, Routes } from '../../../shared/operations/route/routes.ts';
import { claim, giveUp, placeOf } from './places.ts';
import { foundOn, openAs } from './visitor-tab.ts';
import { WebVisitor } from './web-visitor.ts';

const OWNER = 'ana@example.com';
const HOSTILE = {
  html: `</div></figure><script>document.title='owned'</script><img src=x onerror=alert(1)>`,
  bidi: 'pay \u202eevil\u2066 \u05d0\u05d1 100',
  unseen: 'a\u200b\u{e0041}b',
  wide: 'W'.repeat(5000),
  '<b>name</b>': ['\u0430pple', 'e\u0301\u0301\u0301\u0301\u0301\u0301'],
};
/** Long enough for a page that looks again and again to be found out. */
const QUIET_MS = 1500;

const clock = new FakeClock();
let gateway: TestGateway;
let receiver: Receiver;
let routes: Routes;
let browser: Browser;
let owner: WebVisitor;

const tabOf = (visitor: WebVisitor, look: Partial<Look> = {}): Promise<Tab> =>
  openAs(browser, gateway, visitor, look);

const event = (payload: unknown, source: string): Promise<string> =>
  routes.event({ source, body: JSON.stringify(payload) });

/** What a page asks for while nothing happens; that a key was used is written down seconds later, which is something, too. */
async function askedInPeace({ page, asked }: Tab): Promise<string[]> {
  const project = await projectOf(gateway);
  // One that brings about by looking what it looks for has no peace.
  for (let left = 5; ; left -= 1) {
    const { position } = project;
    await page.waitForTimeout(QUIET_MS);
    const before = asked.length;
    await page.waitForTimeout(QUIET_MS);
    if (project.position === position || left === 0) return asked.slice(before);
  }
}

/** Every page there is, in every state that looks another way. */
async function places(): Promise<string[]> {
  const hostile = await event(HOSTILE, 'hostile');
  const long = await event({ text: 'x'.repeat(200_000), blanks: ' '.repeat(1000) }, 'hostile');
  const huge = await event('x'.repeat(300_000), 'hostile');
  const dead = await event({ n: 1 }, 'hostile');
  await giveUp(gateway, dead, `${'W'.repeat(500)} </p><script>1</script>`);
  receiver.answer((response) => response.writeHead(500).end(`<b>${'W'.repeat(900)}\u202e`));
  const path = `/${'p'.repeat(300)}`;
  const { id: route } = await routes.add(receiver.url(path), { match_source: 'pushed' });
  await event({ n: 2 }, 'pushed');
  await routes.attempted(route, 1);
  await gateway.addSource({ name: 'signed', verification: 'stripe', secret: 'whsec_c2VjcmV0' });
  const [events, routeList, sources] = await Promise.all(
    (['events', 'routes', 'sources'] as const).map((page) => placeOf(gateway, page)),
  );
  return [
    `${events}?source=hostile`,
    `${events}?status=dead`,
    `${events}?source=nowhere&type=${'w'.repeat(200)}&since=1d`,
    ...[hostile, long, huge, dead].map((id) => `${events}/${id}`),
    `${events}/${long}?part=2`,
    `${events}/${dead}?step=requeue`,
    `${routeList}`,
    `${routeList}/${route}`,
    `${routeList}/${route}?step=remove`,
    `${sources}`,
    `${sources}/hostile`,
    `${sources}/signed`,
    `${sources}?add=webhook`,
    `${routeList}?add`,
    `${sources}/hostile?step=remove`,
  ];
}

describe.skipIf(!hasChromium())('events, routes and sources in a browser', () => {
  beforeAll(async () => {
    browser = await openBrowser();
    gateway = await TestGateway.start({ clock, callbackAllow: LOOPBACK });
    await gateway.gateway.setOwner(gateway.projectId, OWNER);
    receiver = await Receiver.start();
    routes = new Routes(gateway);
    owner = await WebVisitor.asOwner(gateway, OWNER);
  });
  afterAll(async () => {
    await browser.close();
    await gateway.stop();
    await receiver.stop();
  });

  const looks = LOOKS.filter(({ scripts }) => scripts);

  it('are in nobody’s way, whatever strangers wrote', async () => {
    const all = await places();
    for (const look of looks) {
      const tab = await tabOf(owner, look);
      expect(await foundOn(tab, gateway, all, look)).toEqual([]);
      await tab.close();
    }
  });

  it.each([
    ['with scripts', true],
    ['without scripts', false],
  ])('a source is added, told of what is wrong, and removed: %s', async (_name, scripts) => {
    const tab = await tabOf(owner, { scripts });
    const { page } = tab;
    const name = scripts ? 'shop' : 'shop-2';
    await page.goto(gateway.url + (await placeOf(gateway, 'sources')));
    await page.getByRole('link', { name: 'Add a webhook' }).click();
    await page.getByLabel('Name').fill(name);
    await page.getByLabel('Sender', { exact: true }).selectOption('github');
    await page.getByLabel('Signature header').fill('x-shop');
    await page.getByRole('button', { name: 'Add a webhook' }).click();
    await page.locator('#signature_header-problem').waitFor();
    // The checker is a script itself.
    expect(scripts ? await tab.violations() : []).toEqual([]);
    expect(await page.getByLabel('Name').inputValue()).toBe(name);
    expect(await page.getByLabel('Sender', { exact: true }).inputValue()).toBe('github');
    await page.getByLabel('Signing secret').fill('a-shared-secret');
    await page.getByLabel('Signature header').fill('');
    await page.getByRole('button', { name: 'Add a webhook' }).click();
    const url = await page.getByLabel('Webhook URL').inputValue();
    expect(url).toMatch(/\/w\//);
    expect(await page.getByRole('button', { name: 'Copy' }).isVisible()).toBe(scripts);
    await page.getByRole('link', { name: 'Remove…' }).click();
    await page.getByRole('button', { name: 'Yes, remove it' }).click();
    await page.getByRole('heading', { name: 'Sources' }).waitFor();
    expect(await page.getByRole('link', { name: new RegExp(`^${name} `) }).count()).toBe(0);
    // A browser writes into its console that an answer was 400.
    expect(tab.complaints.filter((text) => !text.includes('400'))).toEqual([]);
    await tab.close();
  });

  it('the address of a source is copied by a click', async () => {
    const url = await gateway.addSource({ name: 'copied' });
    const tab = await tabOf(owner);
    await tab.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await tab.page.goto(gateway.url + (await placeOf(gateway, 'sources', 'copied')));
    await tab.page.getByRole('button', { name: 'Copy' }).click();
    await tab.page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await tab.page.evaluate('navigator.clipboard.readText()')).toBe(url);
    expect(tab.complaints).toEqual([]);
    await tab.close();
  });

  it('what agents do with an event shows by itself, and looking is not doing', async () => {
    const id = await event({ n: 3 }, 'live');
    const tab = await tabOf(owner, { size: 'desktop' });
    const { page } = tab;
    await page.goto(gateway.url + (await placeOf(gateway, 'events', id)));
    await page.getByText('Waiting for an agent to claim it.').waitFor();
    await claim(gateway, id);
    await page.getByText('An agent is working on it.').waitFor();
    await page.locator('.timeline').getByText('Claimed').waitFor();
    expect(await askedInPeace(tab)).toEqual([]);
    expect(tab.complaints).toEqual([]);
    await tab.close();
  });

  it('what is being written stays, whatever happens meanwhile', async () => {
    const tab = await tabOf(owner, { size: 'desktop' });
    const { page } = tab;
    await page.goto(`${gateway.url}${await placeOf(gateway, 'events')}?source=writing`);
    await page.getByLabel('Received').selectOption('1h');
    await event({ n: 4 }, 'writing');
    await page.getByText('Something changed here').waitFor();
    expect(await page.getByLabel('Received').inputValue()).toBe('1h');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.locator('[data-row]').waitFor();
    expect(tab.complaints).toEqual([]);
    await tab.close();
  });

  it('on a phone what it is stands above what can be done', async () => {
    const id = await event({ n: 7 }, 'order');
    const tab = await tabOf(owner);
    await tab.page.goto(gateway.url + (await placeOf(gateway, 'events', id)));
    const heading = await tab.page.getByRole('heading', { level: 1 }).boundingBox();
    const state = await tab.page.getByRole('heading', { name: /^State/ }).boundingBox();
    expect(heading?.y).toBeLessThan(state?.y ?? 0);
    await tab.close();
  });

  it('go by keys', async () => {
    await event({ n: 5 }, 'keys');
    await event({ n: 6 }, 'keys');
    const tab = await tabOf(owner, { size: 'desktop' });
    const { page } = tab;
    await page.goto(`${gateway.url}${await placeOf(gateway, 'events')}?source=keys`);
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/evt_*');
    // The newest comes first.
    await page.locator('[data-k=".n"]', { hasText: '5' }).waitFor();
    await page.keyboard.press('u');
    await page.waitForURL('**/events');
    expect(tab.complaints).toEqual([]);
    await tab.close();
  });
});
