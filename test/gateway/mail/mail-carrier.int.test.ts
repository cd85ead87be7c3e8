import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isMailAddress } from '../../../shared/rules/mail/mail-address.ts';
import { composeMail } from '../../../gateway/mail/compose.ts';
import { MailCarrier } from '../../../gateway/mail/mail-carrier.ts';
import type { Mailer } from '../../../gateway/mail/mailer.ts';
import { OutboxMailer } from '../../../gateway/mail/outbox-mailer.ts';
import { parsedMail, valuesOf } from './parsed-mail.ts';
import { channel, NOW, opened } from './samples.ts';

const TO = { address: 'ann@example.com', id: 'ntc_1' };
const clock = { now: () => NOW };

let folder: string;
let carrier: MailCarrier;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-mail-'));
  const from = 'approvals@shop.example';
  const publicUrl = 'https://svc.example.com/base/';
  carrier = new MailCarrier(new OutboxMailer({ folder, clock }), { publicUrl, from });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const written = (id: string) => parsedMail(readFileSync(join(folder, `${id}.eml`), 'latin1'));

describe('a message by mail', () => {
  it('has these headers and no others', async () => {
    const sent = await carrier.send({ kind: 'ask', opened: opened(), token: 't0ken' }, TO);
    expect(sent).toEqual({ outcome: 'sent', messageId: '<ntc_1@shop.example>' });
    const mail = written('ntc_1');
    expect(Object.fromEntries(mail.headers)).toEqual({
      from: 'approvals@shop.example',
      to: 'ann@example.com',
      subject: '[web-shop] approve? Deploy version 1.2.3',
      'message-id': '<ntc_1@shop.example>',
      date: 'Fri, 02 Jan 2026 12:00:00 +0000',
      'auto-submitted': 'auto-generated',
      'x-auto-response-suppress': 'All',
      'mime-version': '1.0',
      'content-type': 'text/plain; charset=utf-8',
      'content-transfer-encoding': '7bit',
    });
    expect(mail.headers).toHaveLength(10);
    expect(mail.text).toContain('\n\nhttps://svc.example.com/base/a/t0ken\n\n');
  });

  it('lists what a key asks beyond its mails, the riskiest first, each with its page', async () => {
    const items = [
      { kind: 'ask', opened: opened({ summary: 'Deploy 1' }), token: 'one' },
      {
        kind: 'ask',
        opened: opened({ summary: 'Drop it\nhttps://x', risk: 'high' }),
        token: 'two',
      },
      { kind: 'tell', opened: opened({ summary: 'Told', status: 'approved' }), token: null },
    ] as const;
    const { project } = opened().request;
    const about = { project, channel: { id: 'chn_1', label: 'ops' }, keyName: 'ci' };
    await carrier.send({ kind: 'digest', ...about, items }, TO);
    const mail = written('ntc_1');
    expect(new Map(mail.headers).get('subject')).toBe('[web-shop] 2 more requests wait for you');
    expect(mail.text).toBe(`2 more requests from key "ci" wait for you.

This is one email instead of many, because the key sends many or you muted it.

See them all in the web inbox:

https://svc.example.com/base/ui/p/web-shop/requests

Approval, high risk, expires 2026-01-03 12:00 UTC:
> Drop it https://x

https://svc.example.com/base/a/two

Approval, expires 2026-01-03 12:00 UTC:
> Deploy 1

https://svc.example.com/base/a/one

For your information, nothing to do:

Approval, approved:
> Told

The agent wrote the lines after ">". Opening a page decides nothing; its buttons
do. Anyone with a link can decide in your name, so don't forward this email.
We don't read replies.

Too many? Mute the key for an hour on any of these pages, or revoke key "ci".

You are the channel "ops" of the project "Web Shop" (web-shop).
`);
  });

  it('leads to the page that confirms an address', async () => {
    await carrier.send({ kind: 'verify', channel, token: 't0/ken' }, TO);
    expect(written('ntc_1').text).toContain('\n\nhttps://svc.example.com/base/c/t0%2Fken\n\n');
  });

  it('has one link when it asks and none when it tells', async () => {
    await carrier.send({ kind: 'ask', opened: opened(), token: 't0ken' }, TO);
    await carrier.send({ kind: 'tell', opened: opened() }, { ...TO, id: 'ntc_2' });
    const link = /\w+:\/\/\S+/g;
    expect(written('ntc_1').text.match(link)).toEqual(['https://svc.example.com/base/a/t0ken']);
    expect(written('ntc_2').text).not.toMatch(link);
  });

  it('is from nobody in local mode', async () => {
    const mailer = new OutboxMailer({ folder, clock });
    const local = new MailCarrier(mailer, { publicUrl: 'http://127.0.0.1:4780' });
    const sent = await local.send({ kind: 'ask', opened: opened(), token: 't' }, TO);
    expect(sent).toEqual({ outcome: 'sent', messageId: '<ntc_1@localhost>' });
    expect(valuesOf(written('ntc_1'), 'from')).toEqual(['svc@localhost']);
  });

  it('is to be sent again when it may have arrived', async () => {
    const reason = 'The mail server does not answer in time.';
    const silent: Mailer = {
      send: async () => ({ outcome: 'unknown', reason }),
      close: async () => undefined,
    };
    const unsure = new MailCarrier(silent, { publicUrl: 'https://svc.example.com' });
    expect(await unsure.send({ kind: 'tell', opened: opened() }, TO)).toEqual({
      outcome: 'later',
      retryAfterSeconds: null,
      reason,
    });
  });

  it('is not written again when its request is over', async () => {
    const over = { kind: 'over', opened: opened(), messageId: '<ntc_1@shop.example>' } as const;
    expect(await carrier.send(over, TO)).toEqual({ outcome: 'sent', messageId: null });
    expect(readdirSync(folder)).toEqual([]);
  });

  it.each(['', '123456', 'a@b\r\nBcc: c@d', 'a@b, c@d', '"a b"@c', 'A <a@b>', 'ä@b', 'a@b..c'])(
    'goes to no address like %j',
    async (address) => {
      const sent = await carrier.send({ kind: 'tell', opened: opened() }, { ...TO, address });
      expect(sent.outcome).toBe('refused');
      expect(readdirSync(folder)).toEqual([]);
    },
  );

  it.each(['', '../x', 'a b', 'x\r\ny', 'x'.repeat(129)])(
    'has no id like %j, which is told and not thrown',
    async (id) => {
      const sent = await carrier.send({ kind: 'tell', opened: opened() }, { ...TO, id });
      expect(sent).toMatchObject({ outcome: 'later', retryAfterSeconds: null });
      expect(readdirSync(folder)).toEqual([]);
    },
  );

  it('is told and not thrown when it cannot be written', async () => {
    const impossible = opened({ expiresAt: Number.NaN });
    const sent = await carrier.send({ kind: 'ask', opened: impossible, token: 't' }, TO);
    expect(sent).toEqual({
      outcome: 'later',
      retryAfterSeconds: null,
      reason: 'The mail could not be written (RangeError).',
    });
  });
});

const NAMES = [
  'auto-submitted',
  'content-transfer-encoding',
  'content-type',
  'date',
  'from',
  'message-id',
  'mime-version',
  'subject',
  'to',
  'x-auto-response-suppress',
];

const ENDS = ['\r\n', '\n', '\r', '\r\n\r\n', '\r\n.\r\n', '\u0000', '\u2028', '\u0085', '\t', ' '];
const WORDS = [
  '=?utf-8?q?=0D=0ABcc:_x?=',
  '=?UTF-8?B?DQpCY2M6IHg=?=',
  '=?utf-8?',
  '=0D=0A',
  'é',
  '日',
];
const PIECES = [...ENDS, ...WORDS, 'Bcc: x@evil.test', 'From ', '.', ':', '<', '"', 'x'.repeat(90)];

const nasty = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 400 }),
  fc.array(fc.constantFrom(...PIECES), { maxLength: 30 }).map((parts) => parts.join('')),
);

describe('whatever is written into it', () => {
  it('a mail reads back as one of each header, and its text as it was', async () => {
    await fc.assert(
      fc.asyncProperty(nasty, nasty, async (subject, text) => {
        const plain = { id: 'ntc_1', from: 'a@b.test', to: 'c@d.test' };
        const { raw } = await composeMail(
          { ...plain, subject: `s${subject}`, text: `t${text}` },
          NOW,
        );
        const mail = parsedMail(raw.toString('latin1'));
        expect(mail.headers.map(([name]) => name).toSorted()).toEqual(NAMES);
        expect(valuesOf(mail, 'to')).toEqual(['c@d.test']);
        expect(valuesOf(mail, 'subject')).toEqual([expect.stringMatching(/^s[^\r\n]*$/)]);
        const lines = `t${text}`.toWellFormed().replace(/\r\n|\r/g, '\n');
        expect(mail.text.replace(/\n*$/, '')).toBe(lines.replace(/\n*$/, ''));
      }),
      { numRuns: 300 },
    );
  });

  it('the subject of a message reads back as it was meant', async () => {
    await fc.assert(
      fc.asyncProperty(nasty, nasty, async (summary, name) => {
        const given = opened({ summary, project: { name, slug: 'web-shop' }, keyName: name });
        const id = 'ntc_9';
        rmSync(join(folder, `${id}.eml`), { force: true });
        await carrier.send({ kind: 'ask', opened: given, token: 't' }, { ...TO, id });
        const mail = written(id);
        expect(mail.headers.map(([one]) => one).toSorted()).toEqual(NAMES);
        const [subject = ''] = valuesOf(mail, 'subject');
        expect(subject.startsWith('[web-shop] approve?')).toBe(true);
        expect(Array.from(subject.replaceAll('= ?', '=?')).length).toBeLessThanOrEqual(120);
        // oxlint-disable-next-line no-control-regex -- looks for what must not be there
        expect(subject).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
      }),
      { numRuns: 100 },
    );
  });

  it('an address that is one stays one', () => {
    const piece = fc.constantFrom('a', 'B', '.', '@', ' ', ',', '<', '-', '"', '\n', '+', 'é', '_');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (parts) => {
        const address = parts.join('');
        if (!isMailAddress(address)) return;
        expect(address).toMatch(
          /^[\w+-]+(?:\.[\w+-]+)*@[A-Za-z][A-Za-z-]*(?:\.[A-Za-z][A-Za-z-]*)*$/,
        );
      }),
      { numRuns: 5000 },
    );
    expect(isMailAddress("o'brien+tag@mail.example.com")).toBe(true);
    expect(isMailAddress(`${'a'.repeat(64)}@b`)).toBe(true);
    expect(isMailAddress(`${'a'.repeat(65)}@b`)).toBe(false);
    expect(isMailAddress(`a@${'b.'.repeat(126)}c`)).toBe(false);
    expect(isMailAddress(`a@b-.c`)).toBe(false);
  });
});
