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
