import * as fc from 'fast-check';
import PostalMime from 'postal-mime';
import { describe, expect, it } from 'vitest';
import { composeMail } from '../../../gateway/mail/compose.ts';
import type { OutgoingFile, OutgoingMail } from '../../../gateway/mail/mailer.ts';
import { parsedMail, valuesOf } from './parsed-mail.ts';
import { NOW } from './samples.ts';

const mail = {
  id: 'msg_1',
  from: 'shop@agents.example',
  to: 'ann@example.com',
  subject: 'Your order',
  text: 'It is on its way.',
} satisfies OutgoingMail;

/** As it travels, read by a strict reader of its form, and as a mail program reads it. */
async function composed(given: Partial<OutgoingMail>) {
  const { raw } = await composeMail({ ...mail, ...given }, NOW);
  return { raw, strict: parsedMail(raw.toString('latin1')), read: await PostalMime.parse(raw) };
}

const file = (given: Partial<OutgoingFile>): OutgoingFile => ({
  name: 'report.pdf',
  contentType: 'application/pdf',
  bytes: Buffer.from('%PDF'),
  ...given,
});

const namesOf = ({ headers }: ReturnType<typeof parsedMail>) =>
  headers.map(([name]) => name).toSorted();

describe('the headers of a mail', () => {
  it('say who writes, by name too, and where answers go', async () => {
    const { strict, read } = await composed({
      fromName: 'Léas "Laden", GmbH <x@evil.example>',
      replyTo: 'shop+r.t0ken@agents.example',
    });
    expect(read.from).toEqual({
      name: 'Léas "Laden", GmbH <x@evil.example>',
      address: 'shop@agents.example',
    });
    expect(valuesOf(strict, 'reply-to')).toEqual(['shop+r.t0ken@agents.example']);
    expect(namesOf(strict)).toEqual([
      'auto-submitted',
      'content-transfer-encoding',
      'content-type',
      'date',
      'from',
      'message-id',
      'mime-version',
      'references',
      'reply-to',
      'subject',
      'to',
      'x-auto-response-suppress',
    ]);
  });

  it.each([
    [{}, 'All'],
    [{ replyTo: 'a@b.test' }, 'DR, RN, NRN, AutoReply, NDR'],
    [{ returnPath: 'a@b.test' }, 'DR, RN, NRN, AutoReply, OOF'],
    [{ replyTo: 'a@b.test', returnPath: 'a@b.test' }, 'DR, RN, NRN, AutoReply'],
  ])('ask machines for what somebody reads, and for no more (%j)', async (given, suppressed) => {
    const { strict } = await composed(given);
    expect(valuesOf(strict, 'auto-submitted')).toEqual(['auto-generated']);
    expect(valuesOf(strict, 'x-auto-response-suppress')).toEqual([suppressed]);
    // Where reports go is said to the server alone.
    expect(valuesOf(strict, 'return-path')).toEqual([]);
  });

  it('take no address that is none', async () => {
    for (const name of ['from', 'to', 'replyTo', 'returnPath'] as const) {
      const given = { ...mail, [name]: 'a@b.test\r\nBcc: c@d.test' };
      await expect(composeMail(given, NOW)).rejects.toThrow('Not a mail address.');
    }
  });

  it.each([
    'Grüße, 日本語 and 👩‍👧',
    'é'.repeat(200),
    'plain',
    ' '.repeat(3) + 'x',
    'a "quoted" one',
  ])('carry the subject %j', async (subject) => {
    const { read } = await composed({ subject });
    expect(read.subject?.trim()).toBe(subject.trim());
  });

  it('are decoded into nothing else', async () => {
    const word = '=?utf-8?q?=0D=0ABcc:_x?=';
    const { read, strict } = await composed({
      subject: word,
      fromName: word,
      attachments: [file({ name: word })],
    });
    const harmless = '= ?utf-8?q?=0D=0ABcc:_x?=';
    expect([read.subject, read.from?.name]).toEqual([harmless, harmless]);
    expect(read.attachments[0]?.filename).toBe(harmless);
    expect(namesOf(strict)).not.toContain('bcc');
  });
});

describe('the body of a mail', () => {
  it('is text and HTML that say the same', async () => {
    const html = '<p style="color: red">Grüße &amp; 日本語</p>\n'.repeat(50);
    const text = `${'Grüße '.repeat(500)}\n.\n..\nFrom me\n-- \nme`;
    const { raw, read } = await composed({ html, text });
    expect(raw.toString('latin1')).toMatch(/^Content-Type: multipart\/alternative;/m);
    expect(read.html?.trimEnd()).toBe(html.trimEnd());
    expect(read.text?.trimEnd()).toBe(text);
    expect(read.attachments).toEqual([]);
  });

  it.each([
    ['one line of 100,000 characters', 'x'.repeat(100_000)],
    ['text of 256 KB', 'All work and no play.\n'.repeat(12_000)],
    ['line ends of all kinds', 'a\rb\nc\r\nd\n\r\ne'],
    ['what is not to be seen', 'a\u0000b\u001b[31mc'],
    ['a half of a pair', 'a\ud800b'],
    ['nothing', ''],
  ])('is legal with %s', async (_what, text) => {
    const { read } = await composed({ text });
    const wanted = text.toWellFormed().replace(/\r\n?/g, '\n');
    expect((read.text ?? '').replace(/\n$/, '')).toBe(wanted.replace(/\n$/, ''));
  });

  it('has no part that its text begins', async () => {
    const first = await composed({ html: '<p>x</p>' });
    const boundary = /boundary="([^"]+)"/.exec(first.raw.toString('latin1'))?.[1] ?? '';
    expect(boundary).not.toBe('');
    const text = `--${boundary}\nContent-Type: text/html\n\n<b>mine</b>\n--${boundary}--`;
    const { read } = await composed({ html: '<p>x</p>', text });
    expect(read.text?.trimEnd()).toBe(text);
    expect(read.html?.trimEnd()).toBe('<p>x</p>');
  });

  it('is the same at every attempt', async () => {
    const given = { html: '<p>x</p>', attachments: [file({})] };
    const [first, second] = [await composed(given), await composed(given)];
    expect(first.raw.equals(second.raw)).toBe(true);
  });
});

describe('the files of a mail', () => {
  it('arrive as they are, with their names', async () => {
    const every = Buffer.from(Array.from({ length: 70_001 }, (_, index) => index % 256));
    const attachments = [
      file({ name: 'Übersicht 日本 👩‍👧.pdf', bytes: every }),
      file({
        name: `${'long '.repeat(30)}name.txt`,
        contentType: 'text/plain',
        bytes: Buffer.from('a\nb\r\nc\rd'),
      }),
      file({ name: 'empty', bytes: new Uint8Array() }),
    ];
    const { read } = await composed({ attachments, html: '<p>x</p>' });
    expect(read.attachments.map(({ filename }) => filename)).toEqual(
      attachments.map(({ name }) => name),
    );
    for (const [index, { content }] of read.attachments.entries()) {
      expect(Buffer.from(content as ArrayBuffer).equals(attachments[index]?.bytes ?? every)).toBe(
        true,
      );
    }
    expect(read.text?.trimEnd()).toBe(mail.text);
  });

  it.each([
    ['text/csv; charset=utf-8; header=present', 'text/csv; charset=utf-8'],
    ['TEXT/Plain', 'text/plain'],
    ['text/calendar;method=REQUEST', 'text/calendar'],
    ['message/rfc822', 'application/octet-stream'],
    ['multipart/mixed; boundary=x', 'application/octet-stream'],
    ['text/html\r\nBcc: x@evil.example', 'application/octet-stream'],
    ['text', 'application/octet-stream'],
    ['', 'application/octet-stream'],
  ])('of the type %j go as %j', async (contentType, wanted) => {
    const { raw, read } = await composed({ attachments: [file({ contentType })] });
    const types = [...raw.toString('latin1').matchAll(/^Content-Type: ([^\r]*(?:\r\n .*)*)/gm)];
    expect(types.at(-1)?.[1]?.replace(/; name=.*$/s, '')).toBe(wanted);
    // The reader ends a calendar with a line end.
    const content = Buffer.from(read.attachments[0]?.content as ArrayBuffer);
    expect(content.toString().trimEnd()).toBe('%PDF');
  });

  it.each([
    ['../../etc/passwd', '.._.._etc_passwd'],
    ['a\\b.exe', 'a_b.exe'],
    ['invoice\u202efdp.exe', 'invoicefdp.exe'],
    ['a\r\nb\u0000.txt', 'a b.txt'],
    ['a"b;c=d.txt', 'a"b;c=d.txt'],
  ])('named %j are called %j', async (name, wanted) => {
    const { read } = await composed({ attachments: [file({ name })] });
    expect(read.attachments[0]?.filename).toBe(wanted);
  });

  it('have other work done while they are encoded', async () => {
    let turns = 0;
    let isDone = false;
    const count = (): void => {
      turns += 1;
      if (!isDone) setImmediate(count);
    };
    count();
    await composeMail({ ...mail, attachments: [file({ bytes: Buffer.alloc(10_485_760) })] }, NOW);
    isDone = true;
    expect(turns).toBeGreaterThan(100);
  });
});

const PIECES = [
  '\r\n',
  '\n',
  '\u0000',
  '\u2028',
  ' ',
  '=?utf-8?q?=0D=0A?=',
  'é',
  '日',
  '👩‍👧',
  '"',
  '<',
  '@',
  ',',
  ';',
  '\ud800',
];
const nasty = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 120 }),
  fc
    .array(fc.constantFrom(...PIECES, 'x'.repeat(90)), { maxLength: 20 })
    .map((all) => all.join('')),
);

describe('whatever is written into names and subject', () => {
  it('a mail has its headers once each, and no line ends or NUL in them', async () => {
    const plain = await composed({ fromName: 'x', html: 'x', attachments: [file({})] });
    await fc.assert(
      fc.asyncProperty(nasty, nasty, nasty, async (subject, fromName, name) => {
        const given = { subject: `s${subject}`, fromName, attachments: [file({ name })] };
        const { read, strict } = await composed({ ...given, html: 'x' });
        expect(namesOf(strict)).toEqual(namesOf(plain.strict));
        expect(read.from?.address).toBe('shop@agents.example');
        const texts = [read.subject, read.from?.name, read.attachments[0]?.filename];
        // oxlint-disable-next-line no-control-regex -- looks for what must not be there
        expect(texts.join('')).not.toMatch(/[\u0000-\u001f\u007f]/);
        expect(read.attachments).toHaveLength(1);
      }),
      { numRuns: 200 },
    );
  });
});
