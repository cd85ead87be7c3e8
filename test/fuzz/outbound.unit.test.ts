import * as fc from 'fast-check';
import PostalMime from 'postal-mime';
import { describe, expect, it } from 'vitest';
import { attachment } from '../../gateway/lib/attachment.ts';
import { composeMail } from '../../gateway/mail/compose.ts';
import type { OutgoingMail } from '../../gateway/mail/mailer.ts';
import { EMAIL_SUBJECT_MAX_CHARS } from '../../shared/lib/limits.ts';
import { parsedMail } from '../gateway/mail/parsed-mail.ts';
import { hostileText } from './hostile.ts';
import { fuzz, unmet, HUNG_MS } from './runs.ts';

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5);
const INJECTIONS = [
  'x\r\nBcc: victim@example.com',
  'x\rBcc: victim@example.com',
  'x\nBcc: victim@example.com\n\nbody',
  'x\r\n\r\n--b\r\nContent-Type: text/html\r\n\r\n<b>',
  'x\u2028Bcc: y',
  'x\u0085Bcc: y',
  '=?utf-8?q?x=0D=0ABcc:_victim@example.com?=',
  '=?utf-8?b?DQpCY2M6IHg=?=',
  '"; filename="evil.exe',
  "x'; filename*=UTF-8''evil.exe",
  'x".exe"\\',
  '%0d%0aBcc: x',
  'a'.repeat(5000),
  'é'.repeat(3000),
  '..\r\n.\r\n',
];

const text = fc.oneof(fc.constantFrom(...INJECTIONS), hostileText);
const file = fc.record({ name: text, contentType: text, bytes: fc.uint8Array({ maxLength: 60 }) });
const mail: fc.Arbitrary<OutgoingMail> = fc.record(
  {
    id: fc.constant('msg_1'),
    from: fc.constant('shop@agents.example'),
    to: fc.constant('ann@example.com'),
    fromName: text,
    subject: text.map((one) => one.slice(0, EMAIL_SUBJECT_MAX_CHARS)),
    text: text.map((one) => one || 'x'),
    html: text.map((one) => one || 'x'),
    attachments: fc.array(file, { maxLength: 3 }),
  },
  { requiredKeys: ['id', 'from', 'to', 'subject', 'text'] },
);

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
/** What may stand before the content of a file. */
const FILE_NAMES = ['content-disposition', 'content-transfer-encoding', 'content-type'];
// oxlint-disable-next-line no-control-regex -- none of these may be there
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

describe('a mail that goes out', () => {
  it(
    'has the headers it should have, each once, whatever is in its fields',
    async () => {
      const fault = await fuzz(mail, 250, async (given) => {
        const { raw } = await composeMail(given, NOW);
        const wire = raw.toString('latin1');
        // Throws for anything but ASCII, line ends of another kind, and lines too long.
        const names = strictNames(wire.slice(0, wire.indexOf('\r\n\r\n') + 4));
        const read = await PostalMime.parse(raw);
        const files = given.attachments ?? [];
        const extra = names.filter((name) => !NAMES.includes(name));
        return unmet({
          [`nothing is there beside: ${extra.join()}`]: extra.length === 0,
          'nothing is there twice': new Set(names).size === names.length,
          'it is to one': read.to?.length === 1 && read.to[0]?.address === given.to,
          'it is from one': read.from?.address === given.from,
          'nobody else gets it': read.cc === undefined && read.bcc === undefined,
          'its subject is one line': !CONTROL.test(read.subject ?? ''),
          'all of its files are there': read.attachments.length === files.length,
          'its files have names of one line': read.attachments.every(
            ({ filename }) => !CONTROL.test(filename ?? '') && !/[/\\]/.test(filename ?? ''),
          ),
          'its files have what they had': read.attachments.every(({ content }, index) =>
            Buffer.from(content as ArrayBuffer).equals(Buffer.from(files[index]?.bytes ?? [])),
          ),
          'parts have the headers of parts': partNames(wire).every((name) =>
            FILE_NAMES.includes(name),
          ),
        });
      });
      expect(fault).toBeNull();
    },
    HUNG_MS,
  );

  it(
    'has the text and the subject that were given, where they can be shown',
    async () => {
      const plain = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 300 });
      const fault = await fuzz(plain, 150, async (given) => {
        const subject = given.trim().replaceAll(/\s+/g, ' ') || 'x';
        const fields = { id: 'msg_1', from: 'a@b.example', to: 'c@d.example' };
        const { raw } = await composeMail({ ...fields, subject, text: given }, NOW);
        const read = await PostalMime.parse(raw);
        return unmet({
          'the subject is the same': read.subject === subject.replaceAll('=?', '= ?'),
          'the text is the same': read.text?.trimEnd() === given.trimEnd(),
        });
      });
      expect(fault).toBeNull();
    },
    HUNG_MS,
  );
});

function strictNames(head: string): string[] {
  return parsedMail(`${head}x\r\n`.replace(/^Content-Transfer-Encoding:.*\r\n/im, ''))
    .headers.map(([name]) => name)
    .concat('content-transfer-encoding');
}

/** The names of the headers of all parts. */
function partNames(wire: string): string[] {
  const boundary = /^Content-Type: multipart\/mixed;\s+boundary="([^"]+)"/im.exec(wire)?.[1];
  if (boundary === undefined) return [];
  const parts = wire.split(`--${boundary}`).slice(2, -1);
  return parts.flatMap((part) =>
    part
      .slice(0, part.indexOf('\r\n\r\n'))
      .trim()
      .replaceAll(/\r\n[ \t]+/g, ' ')
      .split('\r\n')
      .map((line) => (line.split(':', 1)[0] ?? '').toLowerCase()),
  );
}

/** A Content-Disposition as RFC 6266 has it, and nothing else. */
const DISPOSITION =
  /^attachment; filename="([ !#-[\]-~]*)"; filename\*=UTF-8''((?:[\w!#$&+\-.^`|~]|%[0-9A-F]{2})*)$/;

describe('the name of a file in a header', () => {
  it(
    'reads back as it was, and ends where it should',
    async () => {
      const fault = await fuzz(text, 500, (name) => {
        const found = DISPOSITION.exec(attachment(name));
        if (!found) return [`it is none: ${attachment(name)}`];
        const whole = decodeURIComponent(found[2] ?? '');
        const last = name.slice(name.lastIndexOf('/') + 1).toWellFormed();
        return unmet({
          'it is the last segment': whole === last.replace(/\p{Bidi_Control}/gu, '_'),
          'it is no path': !whole.includes('/'),
        });
      });
      expect(fault).toBeNull();
    },
    HUNG_MS,
  );
});
