import PostalMime from 'postal-mime';
import { afterEach, describe, expect, it } from 'vitest';
import { run } from '../../../cli/commands/trigger.ts';
import { fakeContext, FakeClient, fieldsOf, parsedLine, receiver } from './fakes.ts';

const MESSAGE = 'msg_01j9z3k4m5n6p7q8r9s0t1v2w3';
const ADDRESS = 'shop@agents.example.com';
const WEBHOOK = { name: 'gh', type: 'webhook', verification: 'github' };

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** A project with a source of mail that takes what is posted, answered with these events in turn. */
async function service(...events: (string | null)[]) {
  const ingress = await receiver(() => {
    const event_id = events.length > 1 ? events.shift() : events[0];
    return { status: 200, body: JSON.stringify({ status: 'accepted', event_id }) };
  });
  closers.push(ingress.close);
  const source = { name: 'mail', type: 'email', verification: 'none', address: ADDRESS };
  const items = [WEBHOOK, { ...source, url: `${ingress.url}/w/token` }];
  const client = new FakeClient({ 'GET /v1/sources': () => ({ items, next_cursor: null }) });
  return { client, ingress };
}

interface Given {
  readonly set?: readonly string[];
  readonly source?: string;
  readonly count?: string;
}

/** Sends one, and answers it as its readers parse it. */
async function sent(kind: string, given: Given = {}, event: string | null = 'evt_1') {
  const { client, ingress } = await service(event);
  const { context, printed } = fakeContext({ client, args: { kind }, options: { ...given } });
  expect(await run(context)).toBe(0);
  const [request] = ingress.received;
  const raw = request?.body ?? Buffer.alloc(0);
  const mail = await PostalMime.parse(raw, { forceRfc822Attachments: true });
  return { mail, raw: raw.toString('latin1'), request, printed };
}

async function failure(kind: string, given: Given = {}, items: unknown[] = [WEBHOOK]) {
  const client = new FakeClient({ 'GET /v1/sources': () => ({ items, next_cursor: null }) });
  const { context } = fakeContext({ client, args: { kind }, options: { ...given } });
  const error: unknown = await run(context).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'USAGE', exit: 2 });
  const { message, hint } = error as { message: string; hint: string };
  return { text: `${message} ${hint}`, asked: client.calls.length };
}

describe('svc trigger email', () => {
  it('posts a mail with HTML and a file to the email source', async () => {
    const { mail, raw, request, printed } = await sent('email');
    expect(request?.url).toBe('/w/token');
    expect(request?.headers['content-type']).toBe('message/rfc822');
    expect(raw).not.toMatch(/\r(?!\n)|(?<!\r)\n/);
    expect(mail).toMatchObject({
      from: { name: 'Ines Ferreira', address: 'ines.ferreira@example.com' },
      to: [{ address: ADDRESS }],
      subject: 'Order 20418 goes to my old address',
    });
    expect(mail.text).toContain('What I ordered is attached.');
    expect(mail.html).toContain('<p>Hello,</p>');
    expect(mail.attachments).toMatchObject([
      { filename: 'order-20418.csv', mimeType: 'text/csv', disposition: 'attachment' },
    ]);
    expect(printed.lines.map(parsedLine)).toEqual([
      { status: 'accepted', event_id: 'evt_1', kind: 'email', source: 'mail' },
    ]);
  });

  it('makes each of several another mail', async () => {
    const { client, ingress } = await service('evt_1');
    const options = { count: '3' };
    const before = Date.now();
    await run(fakeContext({ client, args: { kind: 'email' }, options }).context);
    const ids = ingress.received.map(
      ({ body }) => /^Message-ID: (<.+>)\r$/m.exec(body.toString())?.[1],
    );
    expect([ids.length, new Set(ids).size]).toEqual([3, 3]);
    const dates = ingress.received.map(
      ({ body }) => /^Date: (.+)\r$/m.exec(body.toString())?.[1] ?? '',
    );
    for (const date of dates) {
      expect(date).toMatch(/^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d \+0000$/);
      // In whole seconds.
      expect(Date.parse(date)).toBeGreaterThan(before - 1000);
      expect(Date.parse(date)).toBeLessThanOrEqual(Date.now());
    }
  });

  it('says what was set in any script and at any length', async () => {
    const subject = `Grüße 日本 👩‍💻 =?x?= ${'long '.repeat(40)}`.trim();
    const text = `Zeile 1: äöü <b> & "x"\nZeile 2 = ${'x'.repeat(2000)}`;
    const set = [`subject=${subject}`, 'from=Zoë, Q. <zoe@example.com>', `text=${text}`];
    const { mail, raw } = await sent('email', { set });
    expect(mail.subject).toBe(subject);
    expect(mail.from).toMatchObject({ name: 'Zoë, Q.', address: 'zoe@example.com' });
    expect(mail.text?.trimEnd().replaceAll('\r\n', '\n')).toBe(text);
    expect(mail.html).toContain('&lt;b&gt; &amp; "x"');
    expect(Math.max(...raw.split('\r\n').map((line) => line.length))).toBeLessThanOrEqual(78);
  });

  it('takes an address alone as the sender', async () => {
    const { mail } = await sent('email', { set: ['from=bo@example.com'] });
    expect(mail.from).toEqual({ name: '', address: 'bo@example.com' });
  });

  it.each([
    ['foo=1', 'For email, --set takes: subject, from, text.'],
    ['payload.subject=1', 'For email, --set takes: subject, from, text.'],
    ['subject', 'For email, --set takes: subject, from, text.'],
    ['in_reply_to=x', 'For email, --set takes: subject, from, text.'],
    ['subject=', '`subject` must be one line of text.'],
    ['subject=a\r\nBcc: x@y.test', '`subject` must be one line of text.'],
    ['from=a\nb@example.com', '`from` must be one line of text.'],
    ['from=Ines', '`from` must be a mail address, not "Ines".'],
    ['from=a@x.test, b@x.test', '`from` must be a mail address'],
    ['from=A <a@x.test> <b@x.test>', '`from` must be a mail address'],
  ])('refuses to set %j before anything is asked', async (set, reason) => {
    const { text, asked } = await failure('email', { set: [set] });
    expect(text).toContain(reason);
    expect(asked).toBe(0);
  });

  it('says how to add the source that is missing', async () => {
    expect((await failure('email')).text).toBe(
      'The project has no email source yet. Add one: svc source add mail --type email',
    );
  });

  it('knows the one source there is', async () => {
    const { client } = await service('evt_1');
    const options = { source: 'gh' };
    const { context } = fakeContext({ client, args: { kind: 'email' }, options });
    await expect(run(context)).rejects.toMatchObject({
      message: 'No email source named `gh`.',
      hint: 'The email source is: mail',
    });
    await expect(sent('email', { source: 'mail' })).resolves.toBeDefined();
  });
});

describe('svc trigger email.reply', () => {
  it.each([
    [MESSAGE, `<${MESSAGE}@agents.example.com>`],
    ['<a.b@x.test>', '<a.b@x.test>'],
    ['a.b@x.test', '<a.b@x.test>'],
  ])('answers %s', async (given, id) => {
    const { mail } = await sent('email.reply', { set: [`in_reply_to=${given}`] });
    expect(mail).toMatchObject({ inReplyTo: id, references: id, subject: 'Re: Your order' });
    expect(mail.text).toMatch(
      /^Yes, it does\.[\s\S]+\nOn .+, shop@agents\.example\.com wrote:\n> /,
    );
  });

  it.each([
    [[], 'email.reply refers to a sent message: name it.'],
    [['subject=x'], 'svc trigger email.reply --set in_reply_to=msg_…'],
    [['in_reply_to='], '`in_reply_to` must be a message id or a Message-ID.'],
    [['in_reply_to=msg_1'], 'must be a message id'],
    [['in_reply_to=a@b\r\nBcc: c@d'], 'must be a message id'],
    [['message_id=x'], 'For email.reply, --set takes: in_reply_to, subject, from, text.'],
  ])('with %j says what it needs', async (set, reason) => {
    expect((await failure('email.reply', { set })).text).toContain(reason);
  });
});

describe('svc trigger email.bounce', () => {
  it('is a report about the message (RFC 3464), of a failure that passes', async () => {
    const { mail, raw, printed } = await sent(
      'email.bounce',
      { set: [`message_id=${MESSAGE}`] },
      null,
    );
    expect(raw).toMatch(
      /^Content-Type: multipart\/report; report-type=delivery-status;\r\n boundary=/m,
    );
    expect(raw).toMatch(/^Return-Path: <>\r\n/);
    const texts = mail.attachments.map(({ mimeType, content }) => [
      mimeType,
      typeof content === 'string' ? content : Buffer.from(content as ArrayBuffer).toString(),
    ]);
    const parts: Record<string, string> = Object.fromEntries(texts);
    expect(parts['message/delivery-status']).toMatch(
      /\r?\nAction: failed\r?\nStatus: 4\.2\.2\r?\n/,
    );
    expect(parts['text/rfc822-headers']).toContain(`Message-ID: <${MESSAGE}@agents.example.com>`);
    expect(printed.lines.map(parsedLine)).toEqual([
      { status: 'accepted', event_id: null, kind: 'email.bounce', source: 'mail' },
    ]);
  });

  it.each([
    [null, ['Next: svc inbox wait --type email.bounced']],
    [
      'evt_1',
      [
        'The project sent no such message, so the report arrived as ordinary mail.',
        'Next: svc inbox wait --source mail',
      ],
    ],
  ])('that became %j says where it is', async (event, notes) => {
    const { client } = await service(event);
    const args = { kind: 'email.bounce' };
    const options = { set: [`message_id=${MESSAGE}`] };
    const { context, printed } = fakeContext({ client, args, options, json: false });
    await run(context);
    expect(printed.notes).toEqual(notes);
    expect(printed.lines).toEqual([`accepted  ${event ?? 'as a report'}  email.bounce  mail`]);
  });

  it('takes nothing but the message', async () => {
    const { text } = await failure('email.bounce', { set: ['subject=x'] });
    expect(text).toContain('For email.bounce, --set takes: message_id.');
  });
});

describe('svc trigger --dry-run with a mail', () => {
  it('shows it as it travels, without a project', async () => {
    const options = { 'dry-run': true, set: ['subject=Hello'] };
    const { context, printed } = fakeContext({ args: { kind: 'email' }, options });
    expect(await run(context)).toBe(0);
    const [raw = ''] = printed.lines;
    expect(raw).toContain('\r\nTo: project@agents.example.com\r\nSubject: Hello\r\n');
    expect((await PostalMime.parse(raw)).attachments).toHaveLength(1);
  });

  it('is JSON only where that is asked for, and then may be several', async () => {
    const options = { 'dry-run': true, json: true, count: '2' };
    const { context, printed } = fakeContext({ args: { kind: 'email' }, options });
    await run(context);
    const [one, other] = printed.answers.map((answer) => String(fieldsOf(answer)['mail']));
    expect(one).toMatch(/^From: Ines Ferreira/);
    expect(other).not.toBe(one);
    const { text } = await failure('email', { 'dry-run': true, count: '2' } as Given);
    expect(text).toContain('--dry-run shows one mail.');
  });
});
