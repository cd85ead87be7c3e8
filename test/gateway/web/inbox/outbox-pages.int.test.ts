import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeClock, type TestGateway } from '../../../helpers/gateway.ts';
import { linkToken, tokensOf } from '../../../helpers/outbox.ts';
import { FakeSmtp } from '../../../helpers/fake-smtp.ts';
import { TestSending } from '../../mail/outbound/sending.ts';
import { escaped, HOSTILE } from './hostile-words.ts';
import { placeOf } from './places.ts';
import { ask, WebVisitor } from './web-visitor.ts';

const OWNER = 'ana@example.com';

const clock = new FakeClock();
let mail: TestSending;
let gateway: TestGateway;
let list: string;

beforeAll(async () => {
  mail = await TestSending.start({ clock });
  ({ gateway } = mail);
  await mail.allowAll();
  list = await placeOf(gateway, 'outbox');
});
afterAll(() => mail.stop());

/** The addresses of the messages in a list. */
const messagesIn = (html: string): string[] =>
  [...html.matchAll(/href="[^"]*\/outbox\/([^"]+)"/g)].map(([, id]) => id ?? '');

describe('the outbox of one machine', () => {
  it('lists the project’s mail, the newest first, and shows each as text', async () => {
    const visitor = await WebVisitor.withKey(gateway);
    expect((await visitor.get(list)).html).toContain('No mail kept');
    await mail.file('may.txt', 'May');
    const first = await mail.sent({
      subject: 'Hello',
      text: 'Hi there.',
      attachments: ['may.txt'],
    });
    await mail.ended(first);
    const words = HOSTILE.replace('\u202e', '');
    const second = await mail.sent({ subject: words, text: HOSTILE, html: HOSTILE });
    await mail.ended(second);
    const { html } = await visitor.get(list);
    expect(html).toContain('aria-current="page">Outbox');
    const ids = messagesIn(html);
    expect(ids).toHaveLength(2);
    expect(html).toContain('Hi there.');
    const [hostile, plain] = await Promise.all(ids.map((id) => visitor.get(`${list}/${id}`)));
    expect(plain?.html).toContain('may.txt');
    expect(plain?.html).toMatch(/To<\/dt><dd>.*?ana@example\.com/s);
    expect(plain?.html).toMatch(/mime-version<\/span><\/dt>/);
    for (const shown of [html, hostile?.html ?? '']) {
      expect(shown).not.toContain('<script>document');
      expect(shown).toContain(escaped(words.slice(0, words.indexOf(' '))));
    }
    expect((await visitor.get(`${list}/msg_none`)).status).toBe(404);
    expect((await visitor.get(`${list}/..%2f..%2fcontrol`)).status).toBe(404);
  });

  it('finds mail by its kind and its words', async () => {
    const id = await mail.sent({ to: ['zoe@example.com'], subject: 'Sales', text: 'Up by 4 %.' });
    await mail.ended(id);
    const visitor = await WebVisitor.withKey(gateway);
    const find = async (query: string) => messagesIn((await visitor.get(list + query)).html);
    const [found] = await find('?q=zoe');
    expect(found).toMatch(/^msg_/);
    expect(await find('?q=sales%20UP')).toEqual([found]);
    expect(await find('?q=zoe&kind=agents')).toEqual([found]);
    expect(await find('?kind=people')).toEqual([]);
    const none = await visitor.get(`${list}?q=zoe&kind=people`);
    expect(none.html).toContain('No mail matches.');
    expect(none.html).toContain('href="?kind=agents&amp;q=zoe"');
  });

  it('has nothing of another project', async () => {
    const other = await mail.neighbour('other-outbox');
    await other.allowAll();
    const id = await other.sent({ subject: 'Of others' });
    const [message] = await other.ended(id);
    const visitor = await WebVisitor.withKey(gateway);
    expect((await visitor.get(list)).html).not.toContain('Of others');
    expect((await visitor.get(`${list}/${message?.message_id}`)).status).toBe(404);
  });
});

describe('a kept mail', () => {
  const CSP = "sandbox; default-src 'none'; base-uri 'none'; frame-ancestors 'none'";
  let html: string;
  const linksIn = (kind: 'd' | 'm'): string[] =>
    [...html.matchAll(new RegExp(`href="([^"]*/${kind}/[^"]+)"`, 'g'))].map(([, url]) => url ?? '');

  beforeAll(async () => {
    await mail.file('a/page.html', '<script>alert(1)</script>');
    await mail.file('sums “May”.csv', 'a,b\n1,2\n');
    const id = await mail.sent({
      subject: 'With files',
      html: '<p>Hi <b>there</b></p><script>alert(1)</script>',
      attachments: ['a/page.html', 'sums “May”.csv'],
    });
    const [message] = await mail.ended(id);
    const visitor = await WebVisitor.withKey(gateway);
    ({ html } = await visitor.get(`${list}/${message?.message_id}`));
  });

  it('names its files, which only download', async () => {
    expect(html).toMatch(/page\.html<\/span><\/a> <span class="soft">.*?text\/plain.*?, 25 bytes/);
    const [page, table] = linksIn('d');
    const answer = await fetch(page ?? '');
    expect([answer.status, await answer.text()]).toEqual([200, '<script>alert(1)</script>']);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': `attachment; filename="page.html"; filename*=UTF-8''page.html`,
      'content-length': '25',
      'content-security-policy': CSP,
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
    });
    const second = await fetch(table ?? '', { method: 'HEAD' });
    expect([second.status, second.headers.get('content-disposition')]).toEqual([
      200,
      `attachment; filename="sums _May_.csv"; filename*=UTF-8''sums%20%E2%80%9CMay%E2%80%9D.csv`,
    ]);
  });

  it('downloads as a whole, for a mail program', async () => {
    const [, , whole] = linksIn('d');
    const answer = await fetch(whole ?? '');
    const raw = await answer.text();
    expect(raw).toBe(mail.outbox().at(-1));
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': expect.stringMatching(
        /^attachment; filename="msg_\w+\.eml"/,
      ) as string,
      'content-security-policy': CSP,
      'content-length': String(raw.length),
    });
    expect((await fetch(whole ?? '', { method: 'HEAD' })).status).toBe(200);
    expect((await fetch(whole ?? '', { method: 'POST' })).status).toBe(405);
  });

  it('shows its HTML where it runs and loads nothing', async () => {
    const [shown] = linksIn('m');
    const answer = await fetch(shown ?? '');
    expect(await answer.text()).toContain('<p>Hi <b>there</b></p>');
    expect(answer.headers.get('content-security-policy')).toMatch(
      /^sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline';/,
    );
  });

  it('opens by a link that was made for it, for some minutes', async () => {
    const all = [...linksIn('d'), ...linksIn('m')];
    expect(all).toHaveLength(4);
    for (const link of all) {
      const forged = link.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
      expect((await fetch(forged)).status).toBe(404);
    }
    const [file = '', , whole = ''] = linksIn('d');
    // The signature of one file opens no other part.
    const swapped = file.replace(/[^/]+$/, whole.split('/').at(-1) ?? '');
    expect((await fetch(swapped)).status).toBe(404);
    clock.advance(600_000);
    for (const link of all) expect((await fetch(link)).status).toBe(404);
  });
});

describe('who may decide', () => {
  it('alone reads the outbox: its mail has links that decide', async () => {
    const before = await WebVisitor.withKey(gateway);
    expect((await before.get(list)).status).toBe(200);
    await gateway.gateway.setOwner(gateway.projectId, OWNER);
    await ask(gateway, { summary: 'Pay Bob' });
    await linkToken(gateway.folder, 'a');
    const key = await WebVisitor.withKey(gateway);
    for (const visitor of [before, key]) {
      expect((await visitor.get(list)).status).toBe(404);
      const page = await visitor.get(await placeOf(gateway, 'mail'));
      expect(page.html).not.toContain('>Outbox<');
    }
    const limited = await WebVisitor.withKey(gateway, await gateway.key('inbox:read'));
    expect((await limited.get(list)).status).toBe(404);
    const owner = await WebVisitor.asOwner(gateway, OWNER);
    const { html } = await owner.get(list);
    expect(html).toContain('Pay Bob');
    const id = messagesIn(html).find((one) => one.startsWith('ntc_')) ?? '';
    const message = await owner.get(`${list}/${id}`);
    expect(message.html).toContain(`/a/${tokensOf(gateway.folder, 'a')[0]}" rel=`);
    // The link to sign in is of no project.
    expect(html).not.toContain('sign in');
  });
});

describe('a machine with a mail server', () => {
  it('has no outbox', async () => {
    const smtp = await FakeSmtp.start();
    const sending = await TestSending.start({ clock, smtp });
    const visitor = await WebVisitor.withKey(sending.gateway);
    expect((await visitor.get(await placeOf(sending.gateway, 'outbox'))).status).toBe(404);
    await sending.stop();
    await smtp.close();
  });
});
