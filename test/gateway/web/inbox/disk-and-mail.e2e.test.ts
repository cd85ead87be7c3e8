import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeClock, type TestGateway } from '../../../helpers/gateway.ts';
import { arrived, mailWith, sentMessage } from '../../mail/inbound/arrivals.ts';
import { TestSending } from '../../mail/outbound/sending.ts';
import { hasChromium, LOOKS, openBrowser } from '../pages/browser.ts';
import { HOSTILE } from './hostile-words.ts';
import { claim, placeOf } from './places.ts';
import { foundOn, openAs } from './visitor-tab.ts';
import { ask, pathOf, WebVisitor } from './web-visitor.ts';

const OWNER = 'ana@example.com';
const WORDS = HOSTILE.replace('\u202e', '');
const NAME = WORDS.replaceAll('/', '');
const WIDE = 'W'.repeat(200);

const clock = new FakeClock();
let mail: TestSending;
let gateway: TestGateway;
let owner: WebVisitor;
let browser: Browser;

const put = (path: string, type: string, bytes: string | Uint8Array<ArrayBuffer>) =>
  fetch(new URL(`/v1/files/${encodeURIComponent(path)}`, gateway.url), {
    method: 'PUT',
    headers: { authorization: `Bearer ${gateway.apiKey}`, 'content-type': type },
    body: bytes,
  });

async function fillDisk(): Promise<string[]> {
  const disk = await placeOf(gateway, 'disk');
  const at = (section: string, query: Record<string, string>) =>
    `${disk}${section}?${new URLSearchParams(query).toString()}`;
  const key = `h/${NAME}`;
  const agent = { 'x-service-agent': WORDS };
  for (const body of [{ [HOSTILE]: HOSTILE }, { [WIDE]: WIDE }]) {
    await gateway.call('PUT', `/v1/kv/${encodeURIComponent(key)}`, { body });
    await gateway.call('PUT', `/v1/state/${encodeURIComponent(key)}`, {
      body: { state: body, note: WORDS },
      headers: agent,
    });
  }
  await gateway.call('PUT', `/v1/kv/h/${WIDE}`, { body: WIDE });
  await put(key, 'text/html', HOSTILE);
  await put('h/dot.png', 'image/png', await picture());
  await gateway.call('POST', '/v1/file-urls', { body: { path: key, wait_seconds: 0 } });
  return [
    disk,
    at('', { prefix: 'h/' }),
    at('', { key }),
    at('', { key, step: 'delete' }),
    at('/states', { prefix: 'h/' }),
    at('/states', { task: key }),
    at('/files', { prefix: 'h/' }),
    at('/files', { path: key }),
    at('/files', { path: 'h/dot.png' }),
    `${disk}/links`,
  ];
}

async function picture(): Promise<Uint8Array<ArrayBuffer>> {
  const page = await browser.newPage({ viewport: { width: 80, height: 40 } });
  const bytes = new Uint8Array(await page.screenshot());
  await page.close();
  return bytes;
}

async function fillMail(): Promise<string[]> {
  const [list, outbox] = [await placeOf(gateway, 'mail'), await placeOf(gateway, 'outbox')];
  const { batchId, messageId } = await sentMessage(mail, OWNER, {
    subject: WORDS,
    text: HOSTILE,
    html: HOSTILE,
    attachments: [`h/${NAME}`],
  });
  const from = { name: HOSTILE, address: 'eve@example.com' };
  await arrived(
    mail,
    mailWith({ from, subject: WIDE, text: WIDE, in_reply_to: `<${messageId}@x>` }),
  );
  const { body } = await mail.call<{ thread_id: string }>('GET', `/v1/emails/${batchId}`);
  return [
    list,
    `${list}?kind=sent&state=sent`,
    `${list}/${body.thread_id}`,
    `${list}/${batchId}`,
    outbox,
    `${outbox}/${messageId}`,
  ];
}

async function fillRequests(): Promise<string[]> {
  const event_id = String(
    (await gateway.deliver(await gateway.addSource({ name: 'shop' }), '{"n":1}')).body['event_id'],
  );
  const lease_id = await claim(gateway, event_id);
  const id = await ask(gateway, { summary: WORDS, action: WIDE, event_id, state_ref: WIDE });
  const state = { [WIDE]: HOSTILE };
  await gateway.call('POST', '/v1/inbox/nack', {
    body: { event_id, lease_id, until: [id], state },
  });
  const policy = await placeOf(gateway, 'policy');
  return [await pathOf(gateway), await pathOf(gateway, id), `${policy}/try`, `${policy}/propose`];
}

describe.skipIf(!hasChromium())('disk, mail, outbox and requests in a browser', () => {
  let all: string[];
  beforeAll(async () => {
    browser = await openBrowser();
    mail = await TestSending.start({ clock });
    ({ gateway } = mail);
    await gateway.gateway.setOwner(gateway.projectId, OWNER);
    await mail.policy({ effect: 'allow', tool: ['email_send', 'file_url'] });
    all = [...(await fillDisk()), ...(await fillMail()), ...(await fillRequests())];
    owner = await WebVisitor.asOwner(gateway, OWNER);
  });
  afterAll(async () => {
    await browser.close();
    await mail.stop();
  });

  it.each(LOOKS.filter(({ scripts }) => scripts))(
    'are in nobody’s way, whatever strangers wrote: $size, $scheme',
    async (look) => {
      const tab = await openAs(browser, gateway, owner, look);
      expect(await foundOn(tab, gateway, all, look)).toEqual([]);
      await tab.close();
    },
  );

  it('a question is opened from the outbox, and approved with its details in sight', async () => {
    const tab = await openAs(browser, gateway, owner);
    const { page } = tab;
    await ask(gateway, {
      summary: 'Pay Bob',
      action: 'pay',
      risk: 'high',
      details: 'Invoice 1042, all of it.',
      bind: { to: 'Bob', amount: 120 },
    });
    await page.goto(gateway.url + (await placeOf(gateway, 'outbox')));
    // It comes by itself.
    await page.getByRole('link', { name: /Pay Bob/ }).click();
    await page.getByText('Fingerprint:').waitFor();
    const opened = page.waitForEvent('popup');
    await page.getByRole('link', { name: 'Open', exact: true }).click();
    const asked = await opened;
    await asked.getByRole('button', { name: /^Approve/ }).click();
    await asked.getByRole('heading', { name: 'Approve this high-risk action?' }).waitFor();
    await asked.getByText('Invoice 1042, all of it.').waitFor();
    await asked.getByText('Exactly this will be done').waitFor();
    await asked.getByRole('button', { name: /^Yes, approve/ }).click();
    await asked.getByRole('heading', { name: 'Approved' }).waitFor();
    expect(tab.complaints).toEqual([]);
    await tab.close();
  });

  it('a picture is shown, and nothing of a page that a stranger wrote', async () => {
    const tab = await openAs(browser, gateway, owner);
    const { page } = tab;
    await page.goto(gateway.url + (await placeOf(gateway, 'disk')));
    await page.getByRole('link', { name: 'Files' }).click();
    await page.getByRole('link', { name: /^h\// }).click();
    await page.getByRole('link', { name: /^dot\.png/ }).click();
    const shown = page.getByAltText('The picture in this file');
    await shown.waitFor();
    await expect
      .poll(() => shown.evaluate((one) => Reflect.get(one, 'naturalWidth') as number))
      .toBe(80);
    expect(tab.complaints).toEqual([]);
    await tab.close();
  });
});
