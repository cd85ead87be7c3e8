import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeClock, type TestGateway } from '../../../helpers/gateway.ts';
import { writerOf } from '../../../helpers/writers.ts';
import { arrive, arrived, mailWith, reportWith, sentMessage } from '../../mail/inbound/arrivals.ts';
import { TestSending } from '../../mail/outbound/sending.ts';
import { escaped, HOSTILE } from './hostile-words.ts';
import { placeOf } from './places.ts';
import { WebVisitor } from './web-visitor.ts';

const OWNER = 'ana@example.com';

const clock = new FakeClock();
let mail: TestSending;
let gateway: TestGateway;
let owner: WebVisitor;
let list: string;

beforeAll(async () => {
  mail = await TestSending.start({ clock });
  ({ gateway } = mail);
  await gateway.gateway.setOwner(gateway.projectId, OWNER);
  await mail.allowAll();
  owner = await WebVisitor.asOwner(gateway, OWNER);
  list = await placeOf(gateway, 'mail');
});
afterAll(() => mail.stop());

/** Mails have their own moments, in the order in which the test makes them. */
async function came(payload: Parameters<typeof mailWith>[0]): Promise<string> {
  clock.advance(1000);
  return arrived(mail, mailWith(payload, { verified: true }));
}

async function threadOf(batchId: string): Promise<string> {
  const { body } = await mail.call<{ thread_id: string }>('GET', `/v1/emails/${batchId}`);
  return body.thread_id;
}

describe('the mails', () => {
  it('are listed by thread, the one with the newest mail first', async () => {
    expect((await owner.get(list)).html).toContain('No mail yet');
    const { batchId, messageId } = await sentMessage(mail);
    await came({ subject: 'An order', from: { name: 'Bob', address: 'bob@example.com' } });
    const { html } = await owner.get(list);
    const rows = [...html.matchAll(/<li><a href="[^"]*\/mail\/(thr_[^"]+)"/g)].map(([, id]) => id);
    expect(rows).toHaveLength(2);
    expect(rows[1]).toBe(await threadOf(batchId));
    expect(html).toMatch(/An order.*?from.*?Bob &lt;bob@example.com&gt;/s);
    // An answer brings its thread to the top, where it stands once.
    await came({ subject: 'Re: Hello', in_reply_to: `<${messageId}@x>`, text: 'Thanks!' });
    const after = await owner.get(list);
    const then = [...after.html.matchAll(/<li><a href="[^"]*\/mail\/(thr_[^"]+)"/g)];
    expect(then.map(([, id]) => id)).toEqual([...rows].toReversed());
    const sent = await owner.get(`${list}?kind=sent`);
    expect(sent.html).toContain('ana@example.com');
    expect(sent.html).not.toContain('An order');
    expect((await owner.get(`${list}?kind=received`)).html).toContain('Re: Hello');
    expect((await owner.get(`${list}?cursor=AA`)).status).toBe(404);
  });

  it('of a thread stand in their order, each with its state', async () => {
    const { batchId, messageId } = await sentMessage(mail);
    const answer = await came({
      subject: 'Re: Hello',
      in_reply_to: `<${messageId}@x>`,
      message_id: '<one@x.example>',
      text: 'Which colour?',
      text_stripped: 'Which colour?',
    });
    clock.advance(1000);
    const ours = await mail.sent({
      to: undefined,
      subject: undefined,
      text: 'A green one.',
      reply_to_event: answer,
    });
    await mail.ended(ours);
    await came({ in_reply_to: '<one@x.example>', text: 'Fine.', text_stripped: 'Fine.' });
    const { html } = await owner.get(`${list}/${await threadOf(batchId)}`);
    const places = ['Hi.', 'Which colour?', 'A green one.', 'Fine.'].map((text) =>
      html.indexOf(text),
    );
    expect(places.every((place) => place > 0)).toBe(true);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(html).toContain(`/mail/${ours}"`);
    expect(html).toContain(`/events/${answer}"`);
    expect(html.match(/class="chip good">Sent</g)?.length).toBeGreaterThan(1);
    expect((await owner.get(`${list}/thr_01j9z3k4m5n6p7q8r9s0t1v2w3`)).status).toBe(404);
  });

  it('of a long thread come in parts', async () => {
    const { batchId, messageId } = await sentMessage(mail);
    for (let n = 0; n < 22; n += 1) {
      await came({ in_reply_to: `<${messageId}@x>`, text: `number ${n}.`, text_stripped: null });
    }
    const page = `${list}/${await threadOf(batchId)}`;
    const { html } = await owner.get(page);
    expect(html).toContain('number 21.');
    expect(html).not.toContain('number 1.');
    const before = /href="(\?before=[^"]+)"/.exec(html)?.[1] ?? '';
    const earlier = await owner.get(page + before);
    expect(earlier.html).toContain('number 1.');
    expect(earlier.html).toContain('Newest mails');
  });
});

/** An id with this number. */
const nth = (kind: 'bat' | 'msg', n: number): string =>
  `${kind}_00000000000000000000000${String(n).padStart(3, '0')}`;

describe('sent mail', () => {
  it('is filtered by its state, with counts', async () => {
    const sent = `${list}?kind=sent`;
    const ids = async (query: string): Promise<string[]> => {
      const { html } = await owner.get(sent + query);
      return [...html.matchAll(/<li><a href="[^"]*\/mail\/(bat_[^"]+)"/g)].map(
        ([, id]) => id ?? '',
      );
    };
    const { batchId, reportTo } = await sentMessage(mail, 'nobody@example.com');
    const report = reportWith({ address: 'nobody@example.com', diagnostic: 'Unknown.' });
    await arrive(mail, mailWith({}, { report }), { recipients: [reportTo] });
    // An answer in its thread hides none that bounced.
    const both = await mail.sent({ to: ['a@example.com', 'b@example.com'], subject: 'Two' });
    await mail.ended(both);
    expect(await ids('&state=bounced')).toEqual([batchId]);
    expect((await ids('&state=sent'))[0]).toBe(both);
    expect(await ids('&state=failed')).toEqual([]);
    const { html } = await owner.get(`${sent}&state=bounced`);
    expect(html).toContain('aria-current="true">Bounced 1</a>');
    expect(html).toMatch(/href="\?state=queued&amp;kind=sent">Queued 0</);
    // Mails are counted, not their messages.
    const count = /state=sent&amp;kind=sent">Sent (\d+)</.exec(html)?.[1];
    expect(Number(count)).toBe((await ids('&state=sent')).length);
    expect((await owner.get(`${sent}&state=odd`)).html).toContain('aria-label="Threads"');
    expect((await owner.get(`${sent}&state=sent&cursor=AA`)).status).toBe(404);
    expect((await owner.get(`${list}?state=bounced`)).html).not.toContain('Bounced 1');
  });

  it('of one state comes in pages', async () => {
    await writerOf(mail.project).write(async ({ emails }) => {
      for (let n = 0; n < 31; n += 1) {
        await emails.insertBatch({
          id: nth('bat', n),
          key_id: 'key_x',
          request_id: null,
          sender: mail.address,
          reply_to_inbox: 1,
          subject: `number ${n}.`,
          text: null,
          html: null,
          attachments: '[]',
          answers: null,
          thread_id: null,
          forget_at: null,
          created_at: new Date(clock.now()).toISOString(),
        });
        const to = { recipient: 'ana@example.com', field: 'to', token_hash: `hash ${n}` } as const;
        const state = { status: 'cancelled', due_at: null } as const;
        await emails.insertMessage({ id: nth('msg', n), batch_id: nth('bat', n), ...to, ...state });
      }
    });
    const page = `${list}?kind=sent&state=cancelled`;
    const { html } = await owner.get(page);
    expect(html).toContain('number 1.');
    expect(html).not.toContain('number 0.');
    expect(html).toContain('Not sent 31</a>');
    const older = /href="(\?[^"]*cursor=[^"]+)"/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? '';
    expect((await owner.get(list + older)).html).toContain('number 0.');
  });
});

describe('a mail of an agent', () => {
  it('shows its text, its files and what became of each message', async () => {
    await mail.file('reports/may.txt', 'May');
    const id = await mail.sent({
      to: ['bob@example.com', 'eve@example.com'],
      subject: 'May',
      text: 'The report.',
      html: '<p>The <b>report</b></p>',
      attachments: ['reports/may.txt'],
    });
    await mail.ended(id);
    const { html } = await owner.get(`${list}/${id}`);
    expect(html).toContain('The report.');
    expect(html).toContain('&lt;b&gt;report&lt;/b&gt;');
    expect(html).toContain('disk/files?path=reports%2Fmay.txt');
    expect(html.match(/class="chip good">Sent</g)).toHaveLength(2);
    expect((await owner.get(`${list}/bat_01j9z3k4m5n6p7q8r9s0t1v2w3`)).status).toBe(404);
  });

  it('waits for its approval, and leads to it', async () => {
    await mail.policy({ effect: 'require_approval', tool: ['email_send'] });
    const { body } = await mail.send({ subject: 'May we?' });
    await mail.allowAll();
    const { html } = await owner.get(`${list}/${body.batch_id}`);
    expect(html).toContain('Waits for approval');
    expect(html).toContain(`/requests/${body.request_id}"`);
    expect((await owner.get(list)).html).toContain('Waits for approval');
  });

  it('that failed or bounced says why', async () => {
    const { batchId, reportTo } = await sentMessage(mail, 'gone@example.com');
    const report = reportWith({ address: 'gone@example.com', diagnostic: 'No such user here.' });
    await arrive(mail, mailWith({}, { report }), { recipients: [reportTo] });
    const { html } = await owner.get(`${list}/${batchId}`);
    expect(html).toContain('class="chip bad">Bounced');
    expect(html).toContain('bounced: No such user here.');
  });

  it('keeps its text and files from a key that is limited to prefixes', async () => {
    await mail.file('team-b/secret.txt', 'x');
    const id = await mail.sent({ text: 'Nothing for them.', attachments: ['team-b/secret.txt'] });
    const { body } = await gateway.call<{ api_key: string }>('POST', '/v1/keys', {
      body: { name: 'a', scopes: ['send', 'inbox:read'], disk_prefixes: ['team-a/'] },
    });
    const visitor = await WebVisitor.withKey(gateway, body.api_key);
    for (const page of [`${list}/${id}`, `${list}/${await threadOf(id)}`]) {
      const { html, status } = await visitor.get(page);
      expect([page, status]).toEqual([page, 200]);
      expect(html).not.toContain('Nothing for them.');
      expect(html).not.toContain('secret.txt');
    }
  });

  it('is for sessions that may send; others see what came in', async () => {
    const { batchId } = await sentMessage(mail);
    const visitor = await WebVisitor.withKey(gateway, await gateway.key('inbox:read'));
    expect((await visitor.get(`${list}/${batchId}`)).status).toBe(404);
    const { html } = await visitor.get(list);
    expect(html).not.toContain('bat_');
    expect(html).toContain('Received');
  });
});

describe('what strangers and agents wrote', () => {
  it('is text on every page', async () => {
    const words = HOSTILE.replace('\u202e', '');
    const from = { name: HOSTILE, address: 'eve@example.com' };
    const event = await came({ from, subject: HOSTILE, text: HOSTILE, text_stripped: HOSTILE });
    const id = await mail.sent({ subject: words, text: HOSTILE, html: HOSTILE });
    const { body } = await mail.call<{ thread_id: string }>('GET', `/v1/inbox/events/${event}`);
    for (const page of [list, `${list}/${id}`, `${list}/${body.thread_id}`]) {
      const { html, status } = await owner.get(page);
      expect([page, status]).toEqual([page, 200]);
      expect(html).not.toContain('<script>document');
      expect(html).toContain(escaped(words.slice(0, words.indexOf(' '))));
    }
  });
});
