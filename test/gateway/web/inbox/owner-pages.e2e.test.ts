import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeClock, TestGateway } from '../../../helpers/gateway.ts';
import { writerOf } from '../../../helpers/writers.ts';
import { readPage } from '../../../helpers/reading.ts';
import { hasChromium, LOOKS, openBrowser, type Look, type Tab } from '../pages/browser.ts';
import { TestPeople } from '../../approvals/people.ts';
import { HOSTILE } from './hostile-words.ts';
import { placeOf } from './places.ts';
import { foundOn, openAs } from './visitor-tab.ts';
import { SERVICE } from '../../../../shared/rules/actor.ts';
import { WebVisitor } from './web-visitor.ts';

const OWNER = 'ana@example.com';
const SECRET = /^svc_live_[0-9A-Za-z]+$/;
/** Long enough for a page that looks again and again to be found out. */
const QUIET_MS = 1500;

const clock = new FakeClock();
let gateway: TestGateway;
let people: TestPeople;
let browser: Browser;
let owner: WebVisitor;

const tabOf = (visitor: WebVisitor, look: Partial<Look> = {}): Promise<Tab> =>
  openAs(browser, gateway, visitor, look);

async function make(name: string): Promise<string> {
  const body = { name, scopes: ['disk', 'inbox:read', 'approvals'] };
  return (await gateway.call<{ id: string }>('POST', '/v1/keys', { body })).body.id;
}

/** Every page there is, in every state that looks another way. */
async function places(): Promise<string[]> {
  const wide = 'W'.repeat(58);
  const [key, wideKey] = [await make(HOSTILE), await make('W'.repeat(100))];
  const revoked = await make('gone');
  await gateway.call('DELETE', `/v1/keys/${revoked}`);
  const { body } = await people.addChannel('eve@example.com', HOSTILE);
  await people.addChannel(`${wide}@example.com`, wide);
  const channel = body.channel.id;
  await people.setPolicy(
    { id: 'w'.repeat(63), effect: 'deny', action: `${'w'.repeat(199)}*`, risk: 'high' },
    { effect: 'auto_approve', amount_lte: 100, description: HOSTILE.replace('\u202e', '\u0430') },
    { effect: 'auto_approve_notify', tool: 'email_send', recipient_domains: ['example.com'] },
    { effect: 'allow', tool: 'file_url', approvers: [await people.owner()] },
  );
  const action = 'W'.repeat(200);
  for (const summary of ['1', '2', '3', '4', '5']) {
    await people.decide(await people.asked({ action, summary }), { verb: 'approve' });
  }
  const headers = { 'x-service-agent': HOSTILE.replace('\u202e', '') };
  await gateway.call('PUT', `/v1/kv/${'k'.repeat(400)}`, { body: 1, headers });
  await gateway.call('POST', '/v1/channels', { body: { kind: 'email', address: OWNER } });
  const { body: named } = await gateway.call<{ api_key: string }>('POST', '/v1/keys', {
    body: { name: `\u202e${'W'.repeat(99)}`, scopes: ['disk'] },
  });
  await WebVisitor.withKey(gateway, named.api_key);
  const [channels, keys, policy, ledger, usage, sessions] = await Promise.all(
    (['channels', 'keys', 'policy', 'ledger', 'usage', 'sessions'] as const).map((page) =>
      placeOf(gateway, page),
    ),
  );
  return [
    `${channels}`,
    `${channels}/${channel}`,
    `${channels}/${channel}?step=remove`,
    `${channels}/${await people.owner()}`,
    `${channels}?add=email`,
    `${keys}`,
    `${keys}/${key}`,
    `${keys}/${wideKey}`,
    `${keys}/${revoked}`,
    `${keys}?add`,
    `${keys}/${key}?step=revoke`,
    `${keys}/${key}?step=rotate`,
    `${policy}`,
    `${policy}/try`,
    `${policy}/propose`,
    `${policy}/propose?add=${action}`,
    `${policy}/try?tool=ask_approval&action=${'w'.repeat(200)}&amount=80&risk=low`,
    `${ledger}`,
    `${ledger}?agent=nobody`,
    `${ledger}/1`,
    `${ledger}/verify`,
    `${ledger}?op=kv_set`,
    `${usage}`,
    `${sessions}`,
    `${sessions}?step=others`,
  ];
}

describe.skipIf(!hasChromium())('the pages of an owner in a browser', () => {
  beforeAll(async () => {
    browser = await openBrowser();
    gateway = await TestGateway.start({ clock });
    await gateway.gateway.setOwner(gateway.projectId, OWNER);
    people = await TestPeople.of(gateway, clock);
    owner = await WebVisitor.asOwner(gateway, OWNER);
  });
  afterAll(async () => {
    await browser.close();
    await gateway.stop();
  });

  const looks = LOOKS.filter(({ scripts }) => scripts);

  describe('with what strangers wrote', () => {
    let all: string[];
    beforeAll(async () => {
      all = await places();
    });

    it.each(looks)('are in nobody’s way: $size, $scheme', async (look) => {
      const tab = await tabOf(owner, look);
      expect(await foundOn(tab, gateway, all, look)).toEqual([]);
      await tab.close();
    });
  });

  it.each([
    ['with scripts', true],
    ['without scripts', false],
  ])('a key is made, told of what is wrong, and revoked: %s', async (_name, scripts) => {
    const tab = await tabOf(owner, { scripts });
    const { page } = tab;
    const name = scripts ? 'robot' : 'robot-2';
    const list = await placeOf(gateway, 'keys');
    await page.goto(gateway.url + list);
    await page.getByRole('link', { name: 'Create key' }).click();
    await page.getByLabel('approvals').check();
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByText('Say what it’s for.').waitFor();
    // The checker is a script itself.
    expect(scripts ? await tab.violations() : []).toEqual([]);
    expect(await page.getByLabel('approvals').isChecked()).toBe(true);
    await page.getByLabel('What it’s for').fill(name);
    // With scripts a second click makes no second key.
    await page.getByRole('button', { name: 'Create key' }).click({ clickCount: scripts ? 2 : 1 });
    await page.getByText('Copy it now').waitFor();
    expect(await page.getByLabel('Key', { exact: true }).inputValue()).toMatch(SECRET);
    expect(scripts ? await tab.violations() : []).toEqual([]);
    expect(await tab.isTooWide()).toBe(false);
    // Nothing that happens meanwhile takes it away.
    await gateway.call('PUT', '/v1/kv/meanwhile', { body: 1 });
    await page.waitForTimeout(QUIET_MS);
    expect(await page.getByLabel('Key', { exact: true }).inputValue()).toMatch(SECRET);
    expect(await page.locator('#stale').textContent()).toBe('');
    await page.getByRole('link', { name: 'I’ve copied it' }).click();
    const made = page.getByRole('link', { name: new RegExp(`^${name} `) });
    await made.first().waitFor();
    expect(await made.count()).toBe(1);
    await made.click();
    await page.getByRole('link', { name: 'Revoke…' }).click();
    await page.getByRole('button', { name: 'Yes, revoke it' }).click();
    await page.getByRole('heading', { name: 'Revoked or expired' }).waitFor();
    // A browser writes into its console that an answer was 400.
    expect(tab.complaints.filter((text) => !text.includes('400'))).toEqual([]);
    expect(tab.asked.some((url) => url.includes('svc_live'))).toBe(false);
    await tab.close();
  });

  it.each([
    ['with scripts', true],
    ['without scripts', false],
  ])(
    'a session elsewhere is ended by a button, and its open page says so: %s',
    async (_name, scripts) => {
      const [lost, one] = [await WebVisitor.withKey(gateway), await WebVisitor.withKey(gateway)];
      const sessions = await placeOf(gateway, 'sessions');
      const [tab, open] = [await tabOf(one, { scripts }), await tabOf(lost)];
      await open.page.goto(gateway.url + (await placeOf(gateway, 'usage')));
      await tab.page.goto(gateway.url + sessions);
      await tab.page.getByRole('link', { name: 'End all others…' }).click();
      await tab.page.getByRole('button', { name: 'Yes, end them' }).click();
      await tab.page.getByRole('button', { name: 'Sign out here' }).waitFor();
      expect(await tab.page.getByRole('button', { name: /^End/ }).count()).toBe(0);
      await open.page.getByRole('button', { name: 'Email me a link' }).waitFor();
      await tab.page.getByRole('button', { name: 'Sign out here' }).click();
      await tab.page.getByRole('heading', { name: 'You are signed out' }).waitFor();
      expect(tab.complaints).toEqual([]);
      await tab.close();
      await open.close();
    },
  );

  it.each([
    ['with scripts', true],
    ['without scripts', false],
  ])('a person is added, and the form keeps what was written: %s', async (_name, scripts) => {
    const tab = await tabOf(owner, { scripts });
    const { page } = tab;
    await page.goto(`${gateway.url}${await placeOf(gateway, 'channels')}?add=email`);
    await page.getByLabel('Email address').fill('bob at example');
    await page.getByLabel('Name').fill('Bob');
    await page.getByRole('button', { name: 'Email them a link' }).click();
    await page.getByText('This address cannot be used').waitFor();
    expect(scripts ? await tab.violations() : []).toEqual([]);
    expect(await page.getByLabel('Email address').inputValue()).toBe('bob at example');
    expect(await page.getByLabel('Name').inputValue()).toBe('Bob');
    await page.getByLabel('Email address').fill(`bob${scripts ? 1 : 2}@example.com`);
    await page.getByRole('button', { name: 'Email them a link' }).click();
    await page.getByText('The link wasn’t emailed').waitFor();
    await page.getByRole('link', { name: 'Remove…' }).click();
    await page.getByRole('button', { name: 'Yes, remove them' }).click();
    await page.getByRole('heading', { name: 'Channels' }).waitFor();
    expect(tab.complaints.filter((text) => !text.includes('400'))).toEqual([]);
    await tab.close();
  });

  it('a policy is tried, proposed and approved, and shows by itself where it holds', async () => {
    const [tab, watching] = [await tabOf(owner, { size: 'desktop' }), await tabOf(owner)];
    const policy = await placeOf(gateway, 'policy');
    await watching.page.goto(gateway.url + policy);
    const { page } = tab;
    await page.goto(`${gateway.url}${policy}/propose`);
    const area = page.getByLabel('The policy, as JSON');
    await area.fill('{"rules": [{"id": "tips", "effect": "auto_approve", "action": "tip.*"');
    await page.getByRole('button', { name: 'Preview changes' }).click();
    await page.getByText('This is not JSON').waitFor();
    expect(await tab.violations()).toEqual([]);
    await area.fill(`${await area.inputValue()}}]}`);
    await page.getByRole('button', { name: 'Preview changes' }).click();
    await page.getByText('+ tips: auto_approve when action is tip.*').waitFor();
    expect(await tab.violations()).toEqual([]);
    await page.getByRole('button', { name: 'Propose this' }).click();
    await page.getByRole('heading', { name: 'Change the rules?' }).waitFor();
    await page.getByRole('button', { name: /^Approve/ }).click();
    await page.getByRole('button', { name: /^Yes, approve/ }).click();
    await watching.page.getByText('When action is tip.*').waitFor();
    await page.goto(`${gateway.url}${policy}/try`);
    await page.getByLabel('Action').fill('tip.waiter');
    await page.getByRole('button', { name: 'See what happens' }).click();
    await page.getByText('It’s approved at once').waitFor();
    expect(await page.getByLabel('Action').inputValue()).toBe('tip.waiter');
    expect(tab.complaints.filter((text) => !text.includes('400'))).toEqual([]);
    expect(watching.complaints).toEqual([]);
    await tab.close();
    await watching.close();
  });

  it('the ledger goes by keys, grows by itself, and a long one is verified range by range', async () => {
    const tab = await tabOf(owner, { size: 'desktop' });
    const { page } = tab;
    await page.goto(gateway.url + (await placeOf(gateway, 'ledger')));
    await gateway.call('PUT', '/v1/kv/grown', { body: 1 });
    await page.getByRole('link', { name: /kv_set.*grown/ }).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: /kv_set/ }).waitFor();
    // With its script, which keys need.
    await page.waitForLoadState();
    await page.keyboard.press('u');
    await page.waitForURL('**/ledger');
    const ledgerWriter = await people.project.ledgerWriter();
    for (let round = 0; round < 20; round += 1) {
      await writerOf(people.project).write(async (store) => {
        for (let n = 0; n < 1000; n += 1) {
          await ledgerWriter.record(
            store,
            { actor: SERVICE, op: 'test.filled', subject: `n${n}` },
            clock.now(),
          );
        }
      });
    }
    // By its own clock the page may be old enough already, and nobody moves the gateway's.
    await readPage(gateway.url);
    await page.getByRole('button', { name: 'Verify the ledger' }).click();
    await page.getByRole('heading', { name: 'Ledger intact' }).waitFor();
    expect(await tab.violations()).toEqual([]);
    expect(await page.getByLabel(/^Hash of entry/).inputValue()).toMatch(/^[0-9a-f]{64}$/);
    expect(tab.asked.filter((url) => url.includes('/verify?told=')).length).toBeGreaterThan(2);
    expect(tab.complaints).toEqual([]);
    await tab.close();
  });
});
