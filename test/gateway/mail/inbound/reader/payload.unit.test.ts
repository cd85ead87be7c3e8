import { describe, expect, it } from 'vitest';
import { readOffline } from './read-offline.ts';
import { mailOf } from './signed-mail.ts';

/** The payload of a mail with these fields. Without From nobody is asked about its domain. */
async function payloadOf(fields: Readonly<Record<string, string | null>>, body?: string) {
  return (await readOffline(mailOf({ From: null, ...fields }, body))).payload;
}

describe('the payload of a mail', () => {
  it('is what its header and its text say', async () => {
    const payload = await payloadOf({
      Cc: 'Bo <bo@b.example>, team: one@b.example, =?utf-8?q?Zo=C3=AB?= <two@b.example>;',
      'Reply-To': 'help@shop.example',
      Subject: '=?utf-8?b?UsOpc3Vtw6k=?=\r\n =?iso-8859-1?q?_No=2E_=A342?=',
      'In-Reply-To': '<q1@inbox.example> (of May)',
      References: '<q0@inbox.example>\r\n <q1@inbox.example>',
    });
    expect(payload).toEqual({
      message_id: '<m1@shop.example>',
      from: null,
      to: [{ address: 'demo@inbox.example', name: '' }],
      cc: [
        { address: 'bo@b.example', name: 'Bo' },
        { address: 'one@b.example', name: '' },
        { address: 'two@b.example', name: 'Zoë' },
      ],
      reply_to: [{ address: 'help@shop.example', name: '' }],
      subject: 'Résumé No. £42',
      date: '2026-05-01T11:59:00.000Z',
      in_reply_to: '<q1@inbox.example>',
      references: ['<q0@inbox.example>', '<q1@inbox.example>'],
      text: 'The invoice is attached.\n',
      text_stripped: 'The invoice is attached.',
      authentication: {
        dkim: 'none',
        dmarc: 'none',
        spf: 'none',
        from_domain: null,
        aligned: false,
        unsigned: null,
      },
      auto_submitted: false,
      incomplete: null,
    });
  });

  it('has nothing where there is nothing', async () => {
    const nothing = { To: null, Subject: null, Date: null, 'Message-ID': null };
    expect(await payloadOf(nothing, '')).toMatchObject({
      message_id: null,
      from: null,
      to: [],
      subject: '',
      date: null,
      in_reply_to: null,
      references: [],
      text: null,
      text_stripped: null,
    });
  });

  it('has no ids and dates that are none', async () => {
    const bad = {
      'Message-ID': 'm1@shop.example',
      Date: 'soon',
      'In-Reply-To': 'your mail',
      References: '<a b>',
    };
    expect(await payloadOf(bad)).toMatchObject({
      message_id: null,
      date: null,
      in_reply_to: null,
      references: [],
    });
    expect(await payloadOf({ Date: 'Fri, 1 May 12026 11:59:00 +0000' })).toMatchObject({
      date: null,
    });
    const pacific = { Date: 'Fri, 1 May 2026 04:59:00 -0700 (PDT)' };
    expect(await payloadOf(pacific)).toMatchObject({ date: '2026-05-01T11:59:00.000Z' });
  });

  it('is bounded', async () => {
    const payload = await payloadOf({
      To: 'x@y.example,'.repeat(700),
      Subject: `${'s'.repeat(1999)}\u{1f600}${'t'.repeat(100)}`.replace(
        '\u{1f600}',
        '=?utf-8?b?8J+YgA==?=',
      ),
      References: Array.from({ length: 600 }, (_, index) => `<${index}@x>`).join('\r\n '),
      'Message-ID': `<${'m'.repeat(997)}>`,
    });
    expect(payload.to).toHaveLength(500);
    expect(payload.subject).toBe('s'.repeat(1999));
    expect(payload.references).toHaveLength(500);
    expect(payload.references.at(-1)).toBe('<599@x>');
    expect(payload.message_id).toBe(null);
  });

  it('has no line ends and controls in its fields', async () => {
    const payload = await payloadOf({ Subject: '=?utf-8?q?a=0D=0ABcc:_b=00=1B[31m?=' });
    expect(payload.subject).toBe('a Bcc: b [31m');
  });
});

async function readText(mail: string) {
  const { subject, text, incomplete } = (await readOffline(mail)).payload;
  expect([subject, incomplete]).toEqual(['Hello', null]);
  return text;
}

describe('text that follows a header without an empty line', () => {
  const header = 'To: demo@inbox.example\r\nSubject: Hello\r\n';

  it.each([
    ['Dear Ana,\r\nsee you.\r\n', 'Dear Ana,\nsee you.\n'],
    ['Dear Ana,\r\n\r\nsee you.\r\n', 'Dear Ana,\n\nsee you.\n'],
    ['Dear Ana,', 'Dear Ana,\n'],
    ['Dear Ana,\nNote: see you\n  soon', 'Dear Ana,\nNote: see you\n  soon\n'],
    ['https://shop.example/\r\n', 'https://shop.example/\n'],
  ])('is its text: %j', async (body, text) => {
    expect(await readText(header + body)).toBe(text);
  });

  it('is no field that stands among others, nor the first line of a mailbox file', async () => {
    expect(await readText(`From ana Mon May  1 2026\r\n${header}\r\nYes.`)).toBe('Yes.\n');
    expect(await readText(`To: a@b.example\r\nnonsense\r\nSubject: Hello\r\n\r\nYes.`)).toBe(
      'Yes.\n',
    );
    expect(await readText(`${header}X-Own: 1\r\n\tand 2\r\n\r\nYes.`)).toBe('Yes.\n');
  });

  it('is that of a part, too', async () => {
    const type = 'Content-Type: multipart/alternative; boundary="b b"\r\n';
    const parts = ['--b b', 'Content-Type: text/plain', 'Yes.', '--b b', 'No header.', '--b b--'];
    expect(await readText(`${header}${type}\r\n${parts.join('\r\n')}\r\n`)).toBe(
      'Yes.\n\nNo header.\n',
    );
    expect(await readText(`${header}${type}${parts.join('\r\n')}\r\n`)).toBe(
      'Yes.\n\nNo header.\n',
    );
  });

  it('is all of it where it is longer than a header may be', async () => {
    const long = 'It goes on and on.\r\n'.repeat(10_000);
    expect((await readText(header + long))?.length).toBe(190_000);
  });

  it('is the mail itself where there is no header', async () => {
    const { payload } = await readOffline('Dear Ana,\r\nsee you.');
    expect(payload).toMatchObject({ subject: '', text: 'Dear Ana,\nsee you.\n' });
  });
});

describe('the text of a mail', () => {
  const html = { 'Content-Type': 'text/html; charset=utf-8' };

  it('is made from the HTML where there is nothing else', async () => {
    const { payload, html: kept } = await readOffline(
      mailOf({ From: null, ...html }, '<p>Yes.</p><blockquote>Shall we?</blockquote>'),
    );
    expect(payload.text).toBe('Yes.\n\n> Shall we?');
    expect(payload.text_stripped).toBe('Yes.');
    expect(Buffer.from(kept?.bytes ?? []).toString()).toBe(
      '<p>Yes.</p><blockquote>Shall we?</blockquote>\n',
    );
  });

  it('is the plain one where there are both', async () => {
    const parts = ['plain; charset=iso-8859-1\r\n\r\ncaf\xe9', 'html\r\n\r\n<b>coffee</b>'];
    const body = `${parts.map((part) => `--b\r\nContent-Type: text/${part}\r\n`).join('')}--b--\r\n`;
    const type = { 'Content-Type': 'multipart/alternative; boundary=b' };
    const { payload, html: kept } = await readOffline(mailOf({ From: null, ...type }, body));
    expect(payload.text).toBe('café\n');
    expect(Buffer.from(kept?.bytes ?? []).toString()).toBe('<b>coffee</b>\n');
  });

  it('never becomes markup by its charset', async () => {
    const utf7 = { 'Content-Type': 'text/html; charset=utf-7' };
    const { html: kept } = await readOffline(mailOf({ From: null, ...utf7 }, '+ADw-script+AD4-'));
    expect(Buffer.from(kept?.bytes ?? []).toString()).toBe('+ADw-script+AD4-\n');
  });

  it('is cut where it is too long, and the mail is kept whole', async () => {
    const mail = mailOf({ From: null }, `${'x'.repeat(999_999)}\u{1f600}\r\n`);
    const raw = Buffer.from(mail).toString('latin1');
    const { payload, files } = await readOffline(raw);
    expect(payload).toMatchObject({ text: 'x'.repeat(999_999), incomplete: 'too_large' });
    expect(files.map(({ name, content_type }) => ({ name, content_type }))).toEqual([
      { name: 'message.eml', content_type: 'message/rfc822' },
    ]);
    expect(Buffer.from(files[0]?.bytes ?? []).toString('latin1')).toBe(raw);
  });
});

describe('a mail of which only the beginning is there', () => {
  it('is read by its header, and named as too large', async () => {
    const beginning = mailOf({ From: null, 'DKIM-Signature': 'v=1' }, 'The invoi');
    const mail = await readOffline(beginning, false, 40_000_000);
    expect(mail).toMatchObject({
      size_bytes: 40_000_000,
      verified: false,
      payload: {
        subject: 'Invoice 42',
        text: null,
        incomplete: 'too_large',
        authentication: { dkim: 'neutral', dmarc: 'none' },
      },
      files: [],
      addressed_to: ['demo@inbox.example'],
    });
    expect(mail.blocked).toEqual([
      {
        name: 'message.eml',
        content_type: 'message/rfc822',
        size_bytes: 40_000_000,
        reason: 'too_large',
      },
    ]);
  });
});

describe('whom a mail is for', () => {
  it('is told by the topmost of each trace of its delivery', async () => {
    const traces = [
      'Delivered-To: demo@inbox.example',
      'Delivered-To: forged@inbox.example',
      'X-Original-To: <Other@Inbox.example>',
      'Envelope-To: two@inbox.example, three@inbox.example',
      'X-RCPT-To: four@inbox.example',
    ];
    const mail = `${traces.join('\r\n')}\r\n${mailOf({ From: null })}`;
    expect((await readOffline(mail)).delivered_to).toEqual([
      ['demo@inbox.example'],
      ['Other@Inbox.example'],
      ['two@inbox.example', 'three@inbox.example'],
      ['four@inbox.example'],
    ]);
  });

  it('is told by those it names', async () => {
    const mail = mailOf({
      From: null,
      To: 'Demo <demo@inbox.example>, demo@Inbox.example, "a b"@x.example, team: three@x.example;',
      Bcc: 'two@x.example',
      'Resent-To': 'four@x.example',
    });
    expect((await readOffline(mail)).addressed_to).toEqual([
      'demo@Inbox.example',
      'three@x.example',
      'two@x.example',
      'four@x.example',
    ]);
    const many = Array.from({ length: 300 }, (_, index) => `n${index}@x.example`).join(', ');
    expect((await readOffline(mailOf({ From: null, To: many }))).addressed_to).toHaveLength(200);
  });
});
